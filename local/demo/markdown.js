// Markdown as DOM nodes. Text only ever becomes text nodes, so nothing in an answer can become markup or script.
// An answer can be hostile: each step takes time linear in its length, and nothing nests deeper than a quote.

// No alternative can run past the mark that would open it again, so none searches the same stretch twice.
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^[\]]+)\]\(([^()\s]+)\)/g;

/** Return an element of this kind with these children. */
export function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** Return a link, or plain text where the address is not one of the web. */
export function link(text, address) {
  const url = URL.parse(address, location.href);
  if (!url || !["http:", "https:"].includes(url.protocol)) return document.createTextNode(text);
  const made = element("a", text);
  made.href = url.href;
  made.target = "_blank";
  made.rel = "noopener noreferrer nofollow";
  return made;
}

/** Return the text as a fragment of paragraphs, headings, lists, quotes, tables and code. */
export function markdown(text) {
  // The next line stands last, where taking it is cheap.
  const lines = text.replaceAll("\r\n", "\n").split("\n").reverse();
  const blocks = document.createDocumentFragment();
  while (lines.length) {
    const block = BLOCKS.find(([pattern]) => pattern.test(lines.at(-1)));
    blocks.append(block ? block[1](lines) : paragraph(lines));
  }
  return blocks;
}

const BLOCKS = [
  [/^\s*$/, (lines) => { lines.pop(); return ""; }],
  [/^\s*```/, code],
  [/^#{1,6}\s/, heading],
  [/^\s*>/, quote],
  [/^\s*[-*+]\s/, (lines) => list("ul", lines, /^\s*[-*+]\s+/)],
  [/^\s*\d+[.)]\s/, (lines) => list("ol", lines, /^\s*\d+[.)]\s+/)],
  [/^\s*\|.*\|\s*$/, table],
];

function takeWhile(lines, holds) {
  const taken = [];
  while (lines.length && holds(lines.at(-1))) taken.push(lines.pop());
  return taken;
}

function fragment(nodes) {
  const made = document.createDocumentFragment();
  for (const node of nodes) made.append(node);
  return made;
}

function code(lines) {
  lines.pop();
  const taken = takeWhile(lines, (line) => !/^\s*```/.test(line));
  lines.pop();
  return element("pre", element("code", taken.join("\n")));
}

function heading(lines) {
  const line = lines.pop().trim();
  const level = /^#+/.exec(line)[0].length;
  let end = line.length;
  while (end > level && line[end - 1] === "#") end -= 1;
  return element(`h${Math.min(level + 1, 4)}`, inline(line.slice(level, end).trim()));
}

function quote(lines) {
  // A quote in a quote is shown as one.
  const taken = takeWhile(lines, (line) => /^\s*>/.test(line)).map((line) => line.replace(/^(?:\s*>)+ ?/, ""));
  return element("blockquote", markdown(taken.join("\n")));
}

function list(kind, lines, bullet) {
  const items = document.createDocumentFragment();
  while (lines.length && bullet.test(lines.at(-1))) {
    const first = lines.pop().replace(bullet, "");
    const rest = takeWhile(lines, (line) => /^\s+(?![-*+]\s|\d+[.)]\s)\S/.test(line)).map((line) => line.trim());
    items.append(element("li", inline([first, ...rest].join(" "))));
  }
  return element(kind, items);
}

function table(lines) {
  const rows = takeWhile(lines, (line) => /^\s*\|.*\|\s*$/.test(line)).filter((row) => !/^[\s|:-]+$/.test(row));
  const cells = (row) => row.trim().slice(1, -1).split("|").map((cell) => cell.trim());
  const line = (name, row) => element("tr", fragment(cells(row).map((cell) => element(name, inline(cell)))));
  return element("table", fragment(rows.map((row, index) => line(index ? "td" : "th", row))));
}

function paragraph(lines) {
  const first = lines.pop();
  const rest = takeWhile(lines, (line) => !BLOCKS.some(([pattern]) => pattern.test(line)));
  return element("p", inline([first, ...rest].join("\n")));
}

function inline(text) {
  const made = document.createDocumentFragment();
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, verbatim, strong, emphasis, label, address] = found;
    made.append(text.slice(end, found.index));
    if (verbatim) made.append(element("code", verbatim));
    else if (strong) made.append(element("strong", inline(strong)));
    else if (emphasis) made.append(element("em", inline(emphasis)));
    else made.append(link(label, address));
    end = found.index + whole.length;
  }
  made.append(text.slice(end));
  return made;
}
