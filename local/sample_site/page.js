// Shows the page of llms-full.txt whose heading links to this address.

import { markdown } from "/_local/demo/markdown.js";

const SITE = "/_local/site";
const file = await (await fetch(`${SITE}/llms-full.txt`)).text();
const here = location.pathname.slice(SITE.length);
const page = file.split(/^(?=# )/m).find((text) => text.split("\n", 1)[0].endsWith(`](${here})`));
document.getElementById("page").replaceChildren(markdown((page ?? "# There is no such page").replace(/^# \[(.*)\]\(.*\)$/m, "# $1")));
