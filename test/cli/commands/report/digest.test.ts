import PostalMime from "postal-mime";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { flagWords } from "../../../helpers/flag-words.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { fakeDeps, NOW } from "../../../helpers/fake-deps.ts";
import { listedClient } from "../../../helpers/listed-client.ts";
import { responseRow } from "../../../helpers/list-service.ts";
import { elementsOf, named, parseMarkup, textOf } from "../../../helpers/markup.ts";

const DAY = 86_400;
const HOSTILE = "</td><script>alert(1)</script> *bold* <!channel> mail kim@example.com";

function week(detractors: number, passives: number, promoters: number): JsonObject[] {
  const scores = [...Array(detractors).fill(3), ...Array(passives).fill(8), ...Array(promoters).fill(10)] as number[];
  return scores.map((score, index) =>
    responseRow(index + 1, NOW - 3 * DAY + index, { score, comment: index === 0 ? HOSTILE : null }),
  );
}

const ROWS = week(6, 13, 32);
const SENTENCE = "NPS 51, between 29 and 67; too few answers to say whether it changed against the 7 days before.";
const BASIS = "Since 2026-01-25 12:00:00 · n 51 · 95% interval";
const MASKED = "</td><script>alert(1)</script> *bold* <!channel> mail [email-1]";

async function digest(format: string, rows = ROWS, metrics: JsonObject = {}): Promise<string> {
  const { deps, out } = fakeDeps({ client: listedClient(rows, { metrics }) });
  const mail = format === "eml" ? { from: "nps@example.com", to: ["a@example.com", "b@example.com"] } : {};
  const words = flagWords({ output: format, since: NOW - 7 * DAY, title: "Café", ...mail });
  expect(await runCommand(deps, ["digest", ...words])).toBe(0);
  return out();
}

describe("digest", () => {
  it("is lines of text", async () => {
    expect(await digest("text")).toBe(
      [
        "Café",
        "",
        SENTENCE,
        BASIS,
        "",
        "Promoters    63%  32  ###################",
        "Passives     25%  13  ########",
        "Detractors   12%   6  ####",
        "",
        "1 comment",
        "",
        "3 (2026-01-29) [1]",
        `  ${MASKED}`,
        "",
      ].join("\n"),
    );
  });

  it("is HTML with bars as table cells, and nothing that mail programs drop or fetch", async () => {
    const page = parseMarkup(await digest("html"));
    const names = new Set(elementsOf(page).map(({ name }) => name));
    expect(["script", "img", "svg", "link"].filter((name) => names.has(name))).toEqual([]);
    const cells = elementsOf(page).filter(({ attributes }) =>
      /^#(?:1b7f6b|8a949c|c3372b)$/.test(attributes["bgcolor"] ?? ""),
    );
    expect(cells.map(({ name, attributes }) => [name, attributes["width"]])).toEqual([
      ["td", "63%"],
      ["td", "25%"],
      ["td", "12%"],
    ]);
    const said = textOf(page);
    expect([named(page, "h1").map((head) => textOf(head).trim()), said.includes(BASIS), said.includes(MASKED)]).toEqual(
      [[SENTENCE], true, true],
    );
  });

  it("is a mail that a mail program reads, the same bytes each time", async () => {
    const raw = await digest("eml");
    const { subject, from, to, text, html, date } = await PostalMime.parse(raw);
    const shown = [subject, from?.address, to?.map(({ address }) => address), date];
    const at = new Date(NOW * 1000).toISOString();
    expect(shown).toEqual(["Café: NPS 51 (51 answers)", "nps@example.com", ["a@example.com", "b@example.com"], at]);
    expect([text, html].map((part) => part?.replaceAll("\r\n", "\n").trim())).toEqual([
      (await digest("text")).trim(),
      (await digest("html")).trim(),
    ]);
    expect([raw === (await digest("eml")), /(?<!\r)\n/.test(raw), /^\p{ASCII}*$/u.test(raw)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("has dark colours for whoever reads mail in the dark, and none that a mail program has to know", async () => {
    const html = await digest("html");
    const [style = ""] = named(parseMarkup(html), "style").map(textOf);
    const classes = [...style.matchAll(/\.([a-z]+)[,{]/g)].map(([, name]) => name ?? "");
    expect([
      style.includes("prefers-color-scheme:dark"),
      classes.filter((name) => !html.includes(`class="${name}`) && !html.includes(` ${name}"`)),
    ]).toEqual([true, ["promoters", "passives"]]);
  });

  it.each(["text", "html", "eml", "slack"] as const)("states in %s the response rate so far", async (format) => {
    const metrics = { email_sent_count: 240, email_response_rate: 0.2125, sms_sent_count: 1, sms_response_rate: 1 };
    const said = (await digest(format, ROWS, metrics)).replace(/=\r\n/g, "");
    expect(said).toContain("Response rate so far: 21% of 240 emails, 100% of 1 text message");
  });

  it("is Block Kit in which comments are text alone", async () => {
    const message = JSON.parse(await digest("slack")) as { text: string; blocks: JsonObject[] };
    expect([message.text, message.blocks.map(({ type }) => type)]).toEqual([
      `Café: ${SENTENCE} ${BASIS}`,
      ["header", "section", "context", "section", "divider", "context", "rich_text"],
    ]);
    expect(message.blocks.at(-1)).toEqual({
      type: "rich_text",
      elements: [
        {
          type: "rich_text_section",
          elements: [
            { type: "text", text: "3", style: { bold: true } },
            { type: "text", text: "  2026-01-29 [1]" },
          ],
        },
        { type: "rich_text_quote", elements: [{ type: "text", text: MASKED }] },
      ],
    });
  });

  it.each(["text", "html", "eml", "slack"] as const)(
    "says in %s that nobody answered, without a score",
    async (format) => {
      const said = await digest(format, []);
      expect([said.includes("No answers: there is no score."), /NaN|undefined|\d %/.test(said)]).toEqual([true, false]);
    },
  );

  it("shows a dozen comments, those of detractors first", async () => {
    const rows = Array.from({ length: 40 }, (_, index) =>
      responseRow(index + 1, NOW - DAY + index, { score: index % 11, comment: `Comment ${index}` }),
    );
    const [, said = ""] = (await digest("text", rows)).split("12 of 40 comments\n");
    const scores = [...said.matchAll(/^(\d+) \(/gm)].map(([, score]) => Number(score));
    expect([scores.length, scores.every((score) => score <= 6)]).toEqual([12, true]);
  });
});
