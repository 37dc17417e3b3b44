import { afterAll, beforeAll, expect, it } from "vitest";
import { openPages, ORIGIN, type PageFixture } from "../page/fixture.ts";

let pages: PageFixture;
beforeAll(async () => {
  pages = await openPages({ publicUrl: ORIGIN });
  const { token } = await pages.send({ plan: "pro" }, "ada@example.com");
  await pages.send({}, "kim@example.com");
  pages.time.now += 60;
  await pages.post(`/s/${token}`, { score: "9" });
});
afterAll(() => pages.close());

async function figuresOf(name: string, trend: string | null): Promise<string> {
  const wanted = { name, trend, segment: [], comments: true };
  const { url } = await pages.service.admin({ kind: "share.add", project: "default", ...wanted });
  const { text } = await pages.get(url.slice(url.indexOf("/d/")));
  return /<dl>.*?<\/dl>/su.exec(text)?.[0].replaceAll(/(?:<[^>]*>|[ \n])+/gu, " ") ?? "";
}

it("when surveys were sent, then the page tells how many were answered, and of a trend it does not", async () => {
  expect(await figuresOf("All", null)).toMatch(/Response rate so far 50% of 2 emails/);
  const { id } = await pages.service.admin({
    kind: "trend.add",
    project: "default",
    name: "Pro",
    where: { plan: "pro" },
  });
  await pages.service.store.settle();
  expect(await figuresOf("Pro", id)).toMatch(/^ Answers 1 Promoters 1 \(100%\)(?!.*Response rate)/);
});
