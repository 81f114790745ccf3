import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * A node whose plugins are on the class path, made the way OpenSearch's own integration tests make theirs. What the
 * distribution's start adds, a refusal to run as root and a security manager, is of no use to a test.
 */
final class LocalNode extends Node {
    private static final List<Class<? extends Plugin>> PLUGINS =
        List.of(Netty4Plugin.class, CommonAnalysisPlugin.class, PainlessPlugin.class, KNNPlugin.class);

    private LocalNode(Environment environment) {
        super(environment, PLUGINS, false);
    }

    /**
     * Runs a node until the process is asked to end.
     *
     * @param arguments the folder of opensearch.yml, then settings as name=value
     */
    public static void main(String[] arguments) throws Exception {
        Settings.Builder settings = Settings.builder();
        for (String setting : List.of(arguments).subList(1, arguments.length)) {
            String[] parts = setting.split("=", 2);
            settings.put(parts[0], parts[1]);
        }
        Node node = new LocalNode(InternalSettingsPreparer.prepareEnvironment(
            settings.build(), Map.of(), Path.of(arguments[0]), () -> "local"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(node)));
        node.start();
        new CountDownLatch(1).await();
    }

    private static void stop(Node node) {
        try {
            node.close();
            node.awaitClose(10, TimeUnit.SECONDS);
        } catch (Exception failure) {
            failure.printStackTrace();
        }
    }
}
