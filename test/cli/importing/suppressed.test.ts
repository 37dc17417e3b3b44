import { createServer, type Server } from "node:http";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listening } from "../../helpers/misbehaving-server.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

let service: Served;
beforeEach(async () => {
  service = await startServe();
});
afterEach(() => service.stop());

async function importRows(text: string, env: Record<string, string> = {}): Promise<unknown[]> {
  const file = path.join(service.folder, "rows.csv");
  await writeFile(file, text);
  const ended = await service.run(["people", "import", file, "--send", "--skip-suppressed", "--quiet"], { env });
  const results = await readFile(`${file}.people-import.results.csv`, "utf8").catch(() => "\n");
  const rows = results.trim().split("\n").slice(1);
  return [ended.status, ended.stderr.split("\n")[0], ...rows.map((row) => row.split(",").slice(1, 3).join(" "))];
}

test("when a person who unsubscribed is identified by the phone number alone, then they are looked up and left out", async () => {
  const phone = "+14155550171";
  await service.run(["people", "add", "--email", "out@example.com", "--phone", phone, "--no-send"]);
  await service.run(["api", "POST", "/v1/unsubscribes.json", "-f", "person_email=out@example.com"]);
  const rows = `email,phone,channel\n,${phone},sms\n,+14155550172,sms\nOUT@example.com,,\nin@example.com,,\n`;
  expect(await importRows(rows)).toEqual([
    0,
    "",
    `${phone} skipped`,
    "+14155550172 scheduled",
    "OUT@example.com skipped",
    "in@example.com scheduled",
  ]);
});

async function listsOf(
  people: unknown[] | ((email: string | null) => unknown),
  ...unsubscribes: readonly unknown[]
): Promise<{ server: Server; url: string; posts: string[] }> {
  const posts: string[] = [];
  const peopleOf = typeof people === "function" ? people : () => people;
  const server = createServer((request, response) => {
    if (request.method === "POST") posts.push(request.url ?? "");
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const page = Number(url.searchParams.get("page") ?? 1);
    const rows = url.pathname.includes("people")
      ? peopleOf(url.searchParams.get("email"))
      : url.pathname.includes("unsub")
        ? (unsubscribes[page - 1] ?? [])
        : [];
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(rows));
  });
  return { server, url: `http://127.0.0.1:${await listening(server)}`, posts };
}

test("when the list of people does not filter, then a row that cannot be matched stops the import before anything is sent", async () => {
  const stranger = { id: "9", email: "stranger@example.com", phone_number: "+14155550199" };
  const { server, url, posts } = await listsOf(
    [stranger],
    [{ person_id: "1", email: "x@example.com", unsubscribed_at: 1 }],
  );
  const [status, error] = await importRows("phone,channel\n+14155550172,sms\n", { SURVEYCTL_BASE_URL: url });
  server.close();
  expect([status, error, posts]).toEqual([
    1,
    "error: cannot check whether +14155550172 is suppressed: the service's list of people has no filter for phone number",
    [],
  ]);
});

test("when an unsubscribe names a person without an address, then rows with addresses are looked up too", async () => {
  const person = { id: "1", email: "ann@example.com", phone_number: null };
  const { server, url, posts } = await listsOf([person], [{ person_id: "1", email: null, unsubscribed_at: 1 }]);
  const ended = await importRows("email\nann@example.com\n", { SURVEYCTL_BASE_URL: url });
  server.close();
  expect([ended, posts]).toEqual([[0, "", "ann@example.com skipped"], []]);
});

test("when the service compares addresses exactly, then a row in capitals is looked up in lower case too", async () => {
  const person = { id: "1", email: "ann@example.com", phone_number: null };
  const people = (email: string | null): unknown => (email === person.email ? [person] : []);
  const { server, url, posts } = await listsOf(people, [{ person_id: "1", email: null, unsubscribed_at: 1 }]);
  const ended = await importRows("email\nAnn@Example.com\n", { SURVEYCTL_BASE_URL: url });
  server.close();
  expect([ended, posts]).toEqual([[0, "", "Ann@Example.com skipped"], []]);
});

function unsubscribed(first: number, count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => ({
    person_id: `${first + index}`,
    email: `person${first + index}@example.com`,
    unsubscribed_at: 1_735_689_600,
  }));
}

test("when unsubscribes come behind a short page, then the list is read to its empty page and none of them is mailed", async () => {
  const { server, url, posts } = await listsOf(
    [],
    unsubscribed(1, 100),
    unsubscribed(101, 1),
    unsubscribed(102, 100),
    unsubscribed(202, 3),
  );
  const emails = ["person1@example.com", "person101@example.com", "person102@example.com", "person204@example.com"];
  const ended = await importRows(`email\n${emails.join("\n")}\n`, { SURVEYCTL_BASE_URL: url });
  server.close();
  expect([ended, posts]).toEqual([[0, "", ...emails.map((email) => `${email} skipped`)], []]);
});
