import { describe, expect, it } from "vitest";
import { maskPersonalData, maskUrl, formatTrace, type TraceEvent, type Wait } from "../../../src/client/trace/trace.ts";
import { createRedactor } from "../../../src/client/trace/redact.ts";
import { answer, json, reset } from "../../helpers/misbehaving-server.ts";
import { API_KEY, failureOf, withServer } from "../with-server.ts";

const basic = Buffer.from(`${API_KEY}:`).toString("base64");

describe("the trace of a call", () => {
  it("when bodies are shown, then people's data and the key are not", async () => {
    const events: TraceEvent[] = [];
    const echo = json(
      { id: "7", name: "Ann Lee", email: "ann@example.com", echo: `${API_KEY} ${basic}` },
      { "x-request-id": "r-1", "x-secret": "s" },
      201,
    );
    const { client, server } = await withServer([echo], { client: { trace: (event) => events.push(event) } });
    await client.sendPerson({ email: "ann@example.com", phone_number: "+15555550100", properties: { plan: "pro" } });
    const lines = events.flatMap((event) => formatTrace(event, { bodies: true, showPersonalData: false }));
    expect(lines.map((line) => line.replace(/ in \d+ ms/, "").replace(/date: .*/, "date: …"))).toEqual([
      `> 1 POST ${server.baseUrl}/v1/people.json`,
      ">   accept: application/json",
      ">   user-agent: surveyctl/0.0.0-source",
      ">   content-type: application/json",
      '>   {"email":"***","phone_number":"***","properties":{"plan":"pro"}}',
      expect.stringMatching(/^< 1 201, \d+ bytes, request id r-1$/),
      expect.stringMatching(/^< {3}content-length: \d+$/),
      "<   content-type: application/json",
      "<   date: …",
      "<   x-request-id: r-1",
      '<   {"id":"7","name":"***","email":"***","echo":"[key removed] [key removed]"}',
    ]);
  });

  it("when personal data is asked for, then it is shown, and bodies only when they are", async () => {
    const events: TraceEvent[] = [];
    const { client } = await withServer([json([])], { client: { trace: (event) => events.push(event) } });
    await client.listPeople({ email: "ann@example.com" }).next();
    const [first = ""] = events.flatMap((event) => formatTrace(event, { bodies: false, showPersonalData: true }));
    expect(first).toMatch(/^> 1 GET .*\?email=ann%40example\.com$/);
    expect(
      events.flatMap((event) => formatTrace(event, { bodies: false, showPersonalData: true })).join(),
    ).not.toContain("[]");
  });

  it("when tries fail, then each is told, and each wait once", async () => {
    const events: TraceEvent[] = [];
    const waits: Wait[] = [];
    const options = {
      client: { trace: (event: TraceEvent) => events.push(event), onWait: (wait: Wait) => void waits.push(wait) },
    };
    const { client } = await withServer([reset, answer(503, "", { "retry-after": "20" }), json({})], options);
    await client.getMetrics({});
    expect(events.map(({ kind }) => kind)).toEqual([
      "request",
      "failure",
      "request",
      "response",
      "request",
      "response",
    ]);
    const call = { kind: "retry", retries: 5, isNews: true };
    const broke = expect.stringMatching(
      /^the connection to 127\.0\.0\.1:\d+ broke before the answer was complete \(\w+\)$/,
    ) as string;
    expect(waits).toEqual([
      { ...call, waitMs: 200, reason: broke, cause: broke, repeat: 1 },
      {
        ...call,
        waitMs: 20_000,
        reason: "the service answered 503 and asks to wait 20 s",
        cause: "service_failed 503",
        repeat: 2,
      },
    ]);
  });

  it("when anything is shown in any way, then the key never is", async () => {
    const events: TraceEvent[] = [];
    const refusal = answer(403, `no: ${API_KEY}`, {
      location: API_KEY,
      "x-request-id": basic,
      "content-type": API_KEY,
    });
    const { client } = await withServer([refusal], { client: { trace: (event) => events.push(event) } });
    const error = await failureOf(client.getMetrics({ trend: API_KEY }));
    const shown = [
      error.message,
      error.stack,
      JSON.stringify(error),
      ...events.flatMap((event) => formatTrace(event, { bodies: true, showPersonalData: true })),
    ].join("\n");
    expect(shown).not.toContain(API_KEY);
    expect(shown).not.toContain(basic);
    expect(shown).not.toContain(basic.replace(/=+$/, ""));
  });
});

describe("masking", () => {
  it.each([
    ['{"email": "a@b.c", "x": 1}', '{"email": "***", "x": 1}'],
    [String.raw`{"comment":"say \"hi\" to bob","score":9}`, '{"comment":"***","score":9}'],
    ['{"person_name":null,"free_response":"secret"}', '{"person_name":null,"free_response":"***"}'],
    ['{"note":"call +15555550100 or ann@example.com"}', '{"note":"call +*** or ***@***"}'],
    ['{"email":"cut sho', '{"email":"***"'],
    [
      '</v1/people.json?email=ann%40example.com&name=Zo%C3%AB&page=2>; rel="next"',
      '</v1/people.json?email=***&name=***&page=2>; rel="next"',
    ],
    ["/v1/x.json?q=ann%40example.com&p=%2B15555550100", "/v1/x.json?q=***@***&p=+***"],
    ["plain ann.lee+x@example.co.uk words", "plain ***@*** words"],
  ])("when the text is %s", (text, masked) => {
    expect(maskPersonalData(text)).toBe(masked);
  });

  it.each(["a", "a%", "a@", '"a', "?a", "?email", '"email', "&name=", '"name":', "+1", "\\"])(
    "when the text is nothing but %s, then it takes no time worth naming",
    (piece) => {
      const started = process.cpuUsage();
      maskPersonalData(piece.repeat(20_000 / piece.length));
      expect(process.cpuUsage(started).user).toBeLessThan(500_000);
    },
  );

  it.each([
    ["http://h/v1/people.json?email=ann%40example.com&per_page=5", "http://h/v1/people.json?email=***&per_page=5"],
    ["http://h/v1/people/email%3Aann%40example.com.json", "http://h/v1/people/email:***@***"],
    [
      "http://h/v1/x.json?properties[full_name]=Ann&q=%2B15555550100",
      "http://h/v1/x.json?properties[full_name]=***&q=+***",
    ],
    ["http://h/v1/x.json?flag", "http://h/v1/x.json?flag"],
  ])("when the address is %s", (url, masked) => {
    expect(maskUrl(url)).toBe(masked);
  });
});

describe("redaction", () => {
  it("when the key stands anywhere in any form, then it is taken out", () => {
    const key = "p+q/r=12345";
    const forms = [
      key,
      encodeURIComponent(key),
      Buffer.from(`${key}:`).toString("base64"),
      Buffer.from(key).toString("base64"),
    ];
    const redact = createRedactor([key]);
    expect(forms.map((form) => redact(`<${form}>`))).toEqual(forms.map(() => "<[key removed]>"));
  });

  it("when a key is as short as a word's part, then text stays readable", () => {
    expect(createRedactor(["a"])("banana")).toBe("banana");
  });
});
