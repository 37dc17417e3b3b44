// Mail that is sent at most once costs less than twice a loop without that guarantee.
import path from "node:path";
import { pathToFileURL } from "node:url";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { build } from "rolldown";
import { startStub, temporaryFolder } from "./programs.js";
import { atLeast, median, show } from "./report.js";

const MESSAGES = 3000;
const CONNECTIONS = 4;
const ROUNDS = 5;
const BODY = `${"A line of a survey's HTML, as long as such lines are in a mail.".padEnd(74)}\r\n`.repeat(160);

const from = (file, names) =>
  `export { ${names} } from ${JSON.stringify(path.join(import.meta.dirname, "../../src", file))};`;

const { createSmtpTransport, parseSmtpUrl, systemClock } = await ours();
const sink = await startStub("smtp-sink.js");
const port = Number(new URL(sink.url).port);

/** Imports the source, because the bundle doesn't export these names. */
async function ours() {
  const input = "\0bench";
  const code = [
    from("service/delivery/smtp/smtp-transport.ts", "createSmtpTransport"),
    from("service/delivery/smtp/smtp-url.ts", "parseSmtpUrl"),
    from("runtime/clock.ts", "systemClock"),
  ].join("\n");
  const file = path.join(temporaryFolder(), "transport.mjs");
  await build({
    input,
    plugins: [
      { name: "entry", resolveId: (id) => (id === input ? id : null), load: (id) => (id === input ? code : null) },
    ],
    platform: "node",
    logLevel: "silent",
    output: { file, format: "esm" },
  });
  return import(pathToFileURL(file));
}

function message(number) {
  return Buffer.from(`Message-ID: <${number}@bench>\r\nTo: p${number}@example.org\r\n\r\n${BODY}`);
}

/** Messages per second. */
async function timed(run) {
  const began = performance.now();
  await run();
  return (MESSAGES * 1000) / (performance.now() - began);
}

async function sendAll() {
  const server = parseSmtpUrl(`smtp://127.0.0.1:${port}`);
  const transport = createSmtpTransport({ server, certificates: null, connections: CONNECTIONS, clock: systemClock });
  const progress = { mayStillSend: async () => true, transmitting: async () => undefined };
  let number = 0;
  const worker = async () => {
    while (number < MESSAGES) {
      number += 1;
      const mail = {
        from: "us@example.com",
        to: `p${number}@example.org`,
        bytes: message(number),
        needsSmtpUtf8: false,
      };
      const { kind } = await transport.send(mail, progress);
      if (kind !== "accepted") throw new Error(`message ${number} was ${kind}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await transport.close();
}

/** The same client without marks, resets, time limits or a limit of messages per connection. */
async function sendBare() {
  let number = 0;
  const worker = async () => {
    const connection = new SMTPConnection({ host: "127.0.0.1", port, ignoreTLS: true });
    await new Promise((resolve, reject) => connection.on("error", reject).connect(resolve));
    while (number < MESSAGES) {
      number += 1;
      const envelope = { from: "us@example.com", to: `p${number}@example.org` };
      const bytes = message(number);
      await new Promise((resolve, reject) =>
        connection.send(envelope, bytes, (error) => (error ? reject(error) : resolve())),
      );
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

await sendAll();
await sendBare();
const pairs = [];
for (let round = 0; round < ROUNDS; round += 1) pairs.push([await timed(sendAll), await timed(sendBare)]);
show("smtp, bare loop of 4 connections, messages/s", median(pairs.map(([, bare]) => bare)));
atLeast("smtp, 4 connections, messages/s", median(pairs.map(([own]) => own)), 300);
atLeast("smtp, 4 connections: ours / bare loop", median(pairs.map(([own, bare]) => own / bare)), 0.3);
await sink.stop();
