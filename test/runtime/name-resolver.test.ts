/** The real resolver with a local DNS server. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNameResolver, type NameResolver } from "../../src/runtime/name-resolver.ts";

const TYPES = { A: 1, MX: 15, TXT: 16, AAAA: 28 } as const;
const REFUSED = 5;
const NO_SUCH_NAME = 3;

const name = (text: string): Buffer =>
  Buffer.concat([
    ...text
      .split(".")
      .filter(Boolean)
      .map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
const mx = (priority: number, host: string): Buffer => Buffer.concat([Buffer.from([0, priority]), name(host)]);
const txt = (...pieces: string[]): Buffer =>
  Buffer.concat(pieces.map((piece) => Buffer.from([piece.length, ...Buffer.from(piece)])));

const RECORDS: Readonly<Record<string, readonly Buffer[]>> = {
  "example.com A": [Buffer.from([192, 0, 2, 7])],
  "example.com AAAA": [Buffer.from("20010db8000000000000000000000001", "hex")],
  "example.com MX": [mx(20, "second.example.com"), mx(10, "first.example.com")],
  "nomail.example.com MX": [mx(0, "")],
  "example.com TXT": [txt("v=spf1 ", "-all"), txt("other")],
};

function answer(question: Buffer): Buffer {
  const end = question.indexOf(0, 12) + 1;
  const labels: string[] = [];
  for (let at = 12; question[at] !== 0; at += (question[at] ?? 0) + 1)
    labels.push(question.toString("latin1", at + 1, at + 1 + (question[at] ?? 0)));
  const asked = labels.join(".");
  const type = Object.entries(TYPES).find(([, number]) => number === question.readUInt16BE(end))?.[0] ?? "";
  const rows = RECORDS[`${asked} ${type}`] ?? [];
  const isKnown = Object.keys(RECORDS).some((entry) => entry.startsWith(`${asked} `));
  const code = asked.startsWith("broken.") ? REFUSED : isKnown ? 0 : NO_SUCH_NAME;
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x85_80 + code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(rows.length, 6);
  const records = rows.flatMap((data) => {
    const facts = Buffer.alloc(12);
    facts.writeUInt16BE(0xc0_0c, 0);
    question.copy(facts, 2, end, end + 4);
    facts.writeUInt16BE(data.length, 10);
    return [facts, data];
  });
  return Buffer.concat([head, question.subarray(12, end + 4), ...records]);
}

const open: { socket?: Socket; names?: NameResolver } = {};
beforeAll(async () => {
  const socket = createSocket("udp4");
  socket.on("message", (question, { port, address }) => socket.send(answer(question), port, address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  Object.assign(open, { socket, names: createNameResolver([`127.0.0.1:${port}`]) });
});
afterAll(() => void open.socket?.close());

const ask = async (kind: keyof NameResolver, host: string): Promise<unknown> => open.names?.[kind](host);

test.each([
  ["addresses", "example.com", ["192.0.2.7", "2001:db8::1"]],
  ["mailHosts", "example.com", ["first.example.com", "second.example.com"]],
  ["mailHosts", "nomail.example.com", [""]],
  ["texts", "example.com", ["v=spf1 -all", "other"]],
  ["texts", "nomail.example.com", []],
  ["addresses", "nobody.example.com", []],
] as const)("%s of %s are %j", async (kind, host, expected) => {
  expect(await ask(kind, host)).toEqual(expected);
});

test("a server that refuses to answer is an error, and not an empty list", async () => {
  await expect(ask("texts", "broken.example.com")).rejects.toMatchObject({ code: "EREFUSED" });
});
