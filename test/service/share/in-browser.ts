import { changeResponse } from "../../../src/service/domain/answers/response-changes.ts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AdditionalAnswer } from "../../../src/contract/resources.ts";
import { listen, type Listening } from "../../../src/service/http/server.ts";
import { findViolations } from "../../helpers/browser.ts";
import { type EmbeddedService, openEmbeddedService } from "../../helpers/embedded-service.ts";

const DAY = 86_400;
const WIDTHS = [320, 768, 1280];
const LOOKS = (["light", "dark"] as const).flatMap((colorScheme) =>
  WIDTHS.map((width) => [width, colorScheme] as const),
);

const LOGO = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 3"><path d="M0 0h9v3z"/></svg>',
).toString("base64");
const TARGET_MIN = 44;
const LONG = "A choice whose text is as long as people write them who have never seen a phone of 320 pixels";
const NONE = { free_response: null, scale: null, select_one: null, select_many: null };
const ANSWERS: readonly AdditionalAnswer[] = [
  { id: "1", value: { ...NONE, free_response: "slow" }, question: { id: "q1", type: "free_response", text: "Why?" } },
  { id: "2", value: { ...NONE, scale: 4 }, question: { id: "q2", type: "scale", text: "How easy?" } },
  {
    id: "3",
    value: { ...NONE, select_one: { id: "c1", text: LONG } },
    question: { id: "q3", type: "select_one", text: LONG },
  },
];

async function answerFurther({ store }: EmbeddedService["service"]): Promise<void> {
  await store.write(
    async (tx) => {
      const project = (await tx.projects.byName("default"))!.id;
      const all = { since: null, until: null, updatedSince: null, updatedUntil: null, personId: null, trendId: null };
      const shape = { expandPerson: false, expandNotes: false, permalinkPrefix: "" };
      const [newest = ""] = await tx.responses.list(project, { ...all, order: "desc", offset: 0, limit: 1 }, shape);
      const { id } = JSON.parse(newest) as { id: string };
      await changeResponse(tx, project, Number(id), { additionalAnswers: ANSWERS, updatedAt: tx.now });
    },
    { project: "all" },
  );
}

/** Takes the caller's browser, because launching another takes longer than the tests. */
export function describeShare(running: () => Browser): void {
  let embedded: EmbeddedService;
  let listening: Listening;
  let path = "";

  beforeAll(async () => {
    embedded = await openEmbeddedService();
    const { service, client } = embedded;
    const { id } = (await client.sendPerson({ email: "ada@example.com", send: false })) as unknown as { id: string };
    const person = id ?? (await client.listPeople({}).next()).value?.rows[0]?.id;
    const now = Math.floor(service.clock.now() / 1000);
    for (let index = 0; index < 120; index += 1)
      await client.addResponse({
        person,
        score: (index * 7) % 11,
        created_at: now - index * 3 * DAY,
        comment:
          ["Plain words", "</style><script>document.title = 1</script>", "مرحبا \u202E", "x".repeat(3000)][index % 4] ??
          "",
        person_properties: {
          plan: ["free", "pro", "a plan with a name that is far too long for a phone"][index % 3] ?? "",
        },
      });
    await answerFurther(service);
    await service.admin({ kind: "brand.set", project: "default", name: "Acme", color: "#0a7", logo: LOGO });
    const wanted = { name: "Board", trend: null, segment: ["plan"], comments: true };
    const { url } = await service.admin({ kind: "share.add", project: "default", ...wanted });
    path = url.slice(url.indexOf("/d/"));
    listening = await listen(service, { host: "127.0.0.1", port: 0, tls: null });
  });
  afterAll(async () => {
    listening.cut();
    await listening.close();
    await embedded.close();
  });

  it.each(LOOKS)(
    "has no fault that axe finds at %i px in the %s, fits, and asks for nothing else",
    async (width, colorScheme) => {
      // The page's CSP also blocks axe.
      const context = await running().newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
      try {
        const page = await context.newPage();
        const asked: string[] = [];
        page.on("request", (request) => asked.push(request.url()));
        await page.goto(listening.url + path);
        expect(await findViolations(page)).toEqual([]);
        const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        expect([await page.evaluate(wide), await context.cookies(), asked]).toEqual([
          0,
          [],
          [listening.url + path, expect.stringMatching(/\/logo\/[\w-]+$/)],
        ]);
        const sizes: { width: number; height: number }[] = await page.evaluate(
          "[...document.querySelectorAll('a, summary')].map((each) => each.getBoundingClientRect().toJSON())",
        );
        expect(Math.min(...sizes.flatMap(({ width: across, height }) => [across, height]))).toBeGreaterThanOrEqual(
          TARGET_MIN,
        );
        const number = "getComputedStyle(document.querySelector('.number')).fontSize";
        expect(await page.evaluate(number)).toBe(width === 320 ? "32px" : "40px");
        await page.getByRole("link", { name: "30 days" }).click();
        expect(await page.locator("a[aria-current=page]").textContent()).toBe("30 days");
      } finally {
        await context.close();
      }
    },
  );

  it("keeps scripts out by its own policy, and prints without the choice of periods", async () => {
    const context = await running().newContext();
    try {
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (message) => complaints.push(message.text()));
      await page.goto(listening.url + path);
      expect(await page.title()).toMatch(/^Board: NPS -?\d+$/);
      const shown = "document.querySelector('.logo img').naturalWidth > 0";
      expect([complaints, await page.evaluate(shown)]).toEqual([[], true]);
      await page.emulateMedia({ media: "print" });
      expect(await page.locator("nav").isVisible()).toBe(false);
      expect(await page.locator("h1").isVisible()).toBe(true);
    } finally {
      await context.close();
    }
  });
}
