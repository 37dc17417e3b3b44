import { isJsonObject, parseJson, type Json, type JsonObject } from "../../contract/json.ts";

const LENGTH_MAX = 500;

export function readWords(text: string) {
  const json = parseJson(text);
  if (json !== undefined) return { message: oneLine(sentence(json)), details: json };
  return { message: oneLine(looksLikeHtml(text) ? textOfHtml(text) : text), details: null };
}

/** Fields of an error body that can contain the explanation, best first. */
const SENTENCES = [
  "message",
  "error",
  "error_description",
  "detail",
  "details",
  "title",
  "description",
  "reason",
  "msg",
];
const DEPTH_MAX = 4;

function sentence(json: Json, depth = 0): string {
  if (typeof json === "string") return json;
  if (typeof json === "number" || typeof json === "boolean") return String(json);
  if (json === null || depth > DEPTH_MAX) return "";
  if (Array.isArray(json)) return joined(json.map((item) => sentence(item, depth + 1)));
  return ofObject(json, depth);
}

function ofObject(json: JsonObject, depth: number): string {
  const texts = SENTENCES.map((name) => sentence(own(json, name) ?? null, depth + 1)).filter((text) => text !== "");
  const main = texts.find((text) => !STATUS_NAME.test(text)) ?? "";
  const errors = own(json, "errors") ?? null;
  const list = isJsonObject(errors) ? byAttribute(errors, depth) : sentence(errors, depth + 1);
  if (main === "" || list === "") return main || list || (texts.length > 0 ? "" : JSON.stringify(json));
  return `${main} (${list})`;
}

const STATUS_NAME = /^(?:unprocessable (?:entity|content)|bad request|conflict)$/i;

/** Turns `{"email": ["is invalid", "is taken"]}` into `email is invalid, is taken`. */
function byAttribute(errors: JsonObject, depth: number): string {
  return joined(
    Object.entries(errors).map(([name, value]) => {
      const said = Array.isArray(value)
        ? value.map((item) => sentence(item, depth + 1)).join(", ")
        : sentence(value, depth + 1);
      return `${name} ${said}`.trim();
    }),
  );
}

function own(json: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(json, name) ? json[name] : undefined;
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

function looksLikeHtml(text: string): boolean {
  return /^\s*(?:<!doctype|<html|<head|<body|<\?xml|<h\d)/i.test(text);
}

const PAGE_MAX = 16_384;

function textOfHtml(page: string): string {
  const text = page.slice(0, PAGE_MAX);
  const title = /<title[^<>]*>([^<]*)/i.exec(text)?.[1]?.trim() ?? "";
  if (title !== "") return unescaped(title);
  const plain = text.replace(/<(script|style)\b[^]*?<\/\1>/gi, " ").replace(/<[^<>]*>/g, " ");
  return unescaped(plain);
}

const ENTITIES = new Map(Object.entries({ lt: "<", gt: ">", quot: '"', nbsp: " ", "#39": "'", apos: "'", amp: "&" }));

function unescaped(text: string): string {
  return text.replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES.get(name) ?? whole);
}

/** A server's control characters could break the terminal. */
export function oneLine(text: string, lengthMax = LENGTH_MAX): string | null {
  const start = text.slice(0, lengthMax * 4);
  const flat = start.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  if (flat === "") return null;
  return flat.length > lengthMax ? `${flat.slice(0, lengthMax - 1)}…` : flat;
}
