/** A strict HTML parser for page tests. Throws on malformed markup. */

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (Element | string)[];
}

const VOID = new Set(["meta", "link", "br", "img", "input", "hr"]);
const TOKEN =
  /<!doctype html>|<\/([a-z][a-z0-9]*)\s*>|<([a-z][a-z0-9]*)((?:\s+[a-z][a-z0-9:-]*(?:="[^"]*")?)*)\s*(\/?)>|([^<]+)/giy;

export function parseMarkup(text: string): Element {
  const root: Element = { name: "", attributes: {}, children: [] };
  const open = [root];
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`not HTML at ${at}: ${text.slice(at, at + 60)}`);
    const [whole, closed, name, attributes = "", isEmpty, words] = match;
    at += whole.length;
    const parent = open.at(-1) ?? root;
    if (words !== undefined) parent.children.push(unescapeMarkup(words));
    if (closed !== undefined && open.pop()?.name !== closed) throw new Error(`</${closed}> closes another element`);
    if (name === undefined) continue;
    const element = { name, attributes: readAttributes(attributes), children: [] };
    parent.children.push(element);
    if (name === "style" || name === "script") {
      const end = text.indexOf(`</${name}>`, at);
      (element.children as string[]).push(text.slice(at, end));
      at = end + `</${name}>`.length;
    } else if (isEmpty !== "/" && !VOID.has(name)) open.push(element);
  }
  if (open.length !== 1) throw new Error(`<${open.at(-1)?.name}> is not closed`);
  return root;
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([a-z][a-z0-9:-]*)(?:="([^"]*)")?/gi)].map(([, key = "", value = ""]) => [
      key,
      unescapeMarkup(value),
    ]),
  );
}

function unescapeMarkup(text: string): string {
  return text.replace(/&(?:#(\d+);|(nbsp);)?/g, (_, code?: string, space?: string) => {
    if (code === undefined && space === undefined) throw new Error("an ampersand that is not escaped");
    return code === undefined ? "\u00a0" : String.fromCodePoint(Number(code));
  });
}

export function elementsOf(element: Element): Element[] {
  return element.children.flatMap((child) => (typeof child === "string" ? [] : [child, ...elementsOf(child)]));
}

export function textOf(element: Element): string {
  return element.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
}

export function named(root: Element, name: string, kind?: string): Element[] {
  return elementsOf(root).filter(
    (each) => each.name === name && (kind === undefined || (each.attributes["class"] ?? "").split(" ").includes(kind)),
  );
}
