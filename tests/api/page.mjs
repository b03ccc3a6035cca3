// Runs the script of /api/docs with as much of a document as it uses, against a real server: node page.mjs SCRIPT URL TOKEN.
// Shows the types, sends the first form of the type named, and prints what the page then holds.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const [, , script, base, token] = process.argv;

class Node {
  constructor(tag) { Object.assign(this, { tag, children: [], attributes: {}, text: "", value: "", listeners: {}, hidden: false }); }
  set textContent(text) { this.children = []; this.text = text; }
  get textContent() { return this.text + this.children.map((child) => child.textContent).join(""); }
  append(...nodes) { this.children.push(...nodes); if (this.tag === "select" && this.children.length) this.value = this.children[0].attributes.value; }
  replaceChildren(...nodes) { this.text = ""; this.children = nodes; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(name, listener) { this.listeners[name] = listener; }
  querySelector(tag) { return this.all().find((node) => node.tag === tag); }
  all() { return this.children.flatMap((child) => [child, ...child.all()]); }
  submit() { return this.listeners.submit({ preventDefault() {} }); }
}

const known = Object.fromEntries(["token", "open", "state", "types"].map((id) => [id, new Node("div")]));
const sent = [];
const context = vm.createContext({
  document: { getElementById: (id) => known[id], createElement: (tag) => new Node(tag) },
  fetch: (path, options) => { sent.push(path); return fetch(new URL(path, base + "/api/docs"), options); },
  URLSearchParams, console,
});
vm.runInContext(readFileSync(script, "utf8"), context);
known.token.value = token;
await known.open.submit();
const sections = known.types.children;
const section = sections.find((one) => one.children[0].textContent.startsWith("Events"));
const form = section.all().find((node) => node.tag === "form");
for (const label of form.children.filter((node) => node.tag === "label")) {
  const control = label.all().filter((node) => ["input", "select"].includes(node.tag));
  if (label.text === "fields") control[0].value = "title";
  if (label.text === "limit") control[0].value = "1";
  if (label.text === "filters[title]") { control[0].value = "contains"; control[1].value = "<&telescope"; }
}
await form.submit();
console.log(JSON.stringify({
  state: known.state.textContent, titles: sections.map((one) => one.children[0].textContent), sent,
  output: section.all().find((node) => node.tag === "pre").textContent,
  tags: [...new Set(known.types.all().map((node) => node.tag))].sort(),
}));
