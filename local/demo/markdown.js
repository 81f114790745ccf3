// Markdown as DOM nodes. Text only ever becomes text nodes, so nothing in an answer can become markup or script.

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^()\s]+)\)/g;

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
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const fragment = document.createDocumentFragment();
  while (lines.length) {
    const block = BLOCKS.find(([pattern]) => pattern.test(lines[0]));
    fragment.append(block ? block[1](lines) : paragraph(lines));
  }
  return fragment;
}

const BLOCKS = [
  [/^\s*$/, (lines) => { lines.shift(); return ""; }],
  [/^\s*```/, code],
  [/^#{1,6}\s/, heading],
  [/^\s*>/, (lines) => element("blockquote", markdown(take(lines, /^\s*>/).map((line) => line.replace(/^\s*> ?/, "")).join("\n")))],
  [/^\s*[-*+]\s/, (lines) => list("ul", lines, /^\s*[-*+]\s+/)],
  [/^\s*\d+[.)]\s/, (lines) => list("ol", lines, /^\s*\d+[.)]\s+/)],
  [/^\s*\|.*\|\s*$/, table],
];

function take(lines, pattern) {
  const taken = [];
  while (lines.length && pattern.test(lines[0])) taken.push(lines.shift());
  return taken;
}

function code(lines) {
  lines.shift();
  const taken = [];
  while (lines.length && !/^\s*```/.test(lines[0])) taken.push(lines.shift());
  lines.shift();
  return element("pre", element("code", taken.join("\n")));
}

function heading(lines) {
  const [, marks, title] = /^(#{1,6})\s+(.*?)#*\s*$/.exec(lines.shift()) ?? [null, "#", ""];
  return element(`h${Math.min(marks.length + 1, 4)}`, ...inline(title));
}

function list(kind, lines, bullet) {
  const made = element(kind);
  while (lines.length && bullet.test(lines[0])) {
    const first = lines.shift().replace(bullet, "");
    const rest = take(lines, /^\s+(?![-*+]\s|\d+[.)]\s)\S/).map((line) => line.trim());
    made.append(element("li", ...inline([first, ...rest].join(" "))));
  }
  return made;
}

function table(lines) {
  const rows = take(lines, /^\s*\|.*\|\s*$/).filter((row) => !/^[\s|:-]+$/.test(row));
  const cells = (row) => row.trim().slice(1, -1).split("|").map((cell) => cell.trim());
  const line = (name, row) => element("tr", ...cells(row).map((cell) => element(name, ...inline(cell))));
  return element("table", ...rows.map((row, index) => line(index ? "td" : "th", row)));
}

function paragraph(lines) {
  const taken = [lines.shift()];
  while (lines.length && !BLOCKS.some(([pattern]) => pattern.test(lines[0]))) taken.push(lines.shift());
  return element("p", ...inline(taken.join("\n")));
}

function inline(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, verbatim, strong, emphasis, label, address] = found;
    nodes.push(text.slice(end, found.index));
    if (verbatim) nodes.push(element("code", verbatim));
    else if (strong) nodes.push(element("strong", ...inline(strong)));
    else if (emphasis) nodes.push(element("em", ...inline(emphasis)));
    else nodes.push(link(label, address));
    end = found.index + whole.length;
  }
  return [...nodes, text.slice(end)];
}
