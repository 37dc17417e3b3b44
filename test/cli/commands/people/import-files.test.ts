import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FIXTURES, firstRows, readCsv } from "../../../helpers/imported.ts";
import { size } from "../../../helpers/long.ts";
import { startServe, type Served } from "../../../helpers/serve.ts";

const ROWS = size(120, 4973);

let service: Served;
beforeEach(async () => {
  service = await startServe();
});
afterEach(async () => {
  await service.stop();
});

it("when nothing listens, then a dry run shows requests all the same", async () => {
  const env = { SURVEYCTL_BASE_URL: "http://127.0.0.1:9" };
  const { status, stdout } = await service.run(
    ["people", "import", path.join(FIXTURES, "customers.csv"), "--dry-run"],
    { env },
  );
  expect({ status, requests: stdout.split("\n").length - 1 }).toEqual({ status: 0, requests: 3 });
});

it("when responses have two time formats, then every one of them is saved", async () => {
  const input = await firstRows(service.folder, "responses-history.csv", ROWS);
  const results = path.join(service.folder, "results.csv");
  const ended = await service.run(["responses", "import", input, "--yes", "--results", results, "--quiet"]);
  expect(ended).toEqual({ status: 0, signal: null, stdout: "", stderr: "" });
  const [rows, outcomes] = [await readCsv(input), await readCsv(results)];
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(rows.map(() => "saved"));
  const { stdout } = await service.run(["metrics", "--json", "--since", "2000-01-01"]);
  expect(JSON.parse(stdout)).toMatchObject({ response_count: rows.length });
}, 600_000);

it("when a spreadsheet damaged the file, then each wrong line is named as an editor shows it, and nothing is sent", async () => {
  const maps = ["--map", "E-Mail Address=email", "--map", "Full Name=name"];
  const { status, stderr } = await service.run([
    "people",
    "import",
    path.join(FIXTURES, "customers-messy.csv"),
    "--send",
    ...maps,
  ]);
  const places = stderr.split("\n").flatMap((line) => /^customers-messy\.csv:(\d+: (?:\w+: )?)/.exec(line)?.[1] ?? []);
  expect({ status, places }).toEqual({
    status: 2,
    places: [
      "19: phone_number: ",
      "44: phone_number: ",
      "81: email: ",
      "82: ",
      "125: phone_number: ",
      "206: email: ",
      "206: phone_number: ",
    ],
  });
  expect(await service.run(["people", "list"])).toMatchObject({ status: 0, stdout: "" });
});

it("when a property has the name of something that every object has, then it is a property like any other", async () => {
  const stdin =
    'email,properties.__proto__,properties.constructor,properties\nann@example.com,x,y,"{""__proto__"":""z"",""plan"":""pro""}"\n';
  const { stdout } = await service.run(["people", "import", "-", "--no-send", "--dry-run"], { stdin });
  const properties = '{"__proto__":"x","plan":"pro","constructor":"y"}';
  const body = `{"email":"ann@example.com","properties":${properties},"send":false}`;
  expect(stdout).toBe(`{"method":"POST","url":"${service.baseUrl}/v1/people.json","body":${body}}\n`);
});
