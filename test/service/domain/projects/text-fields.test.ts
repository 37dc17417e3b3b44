import { expect, test } from "vitest";
import { addTrend } from "../../../../src/service/domain/answers/trends.ts";
import { DomainError } from "../../../../src/service/domain/errors.ts";
import {
  applyConfiguration,
  RefusedConfigurationError,
  type WantedConfiguration,
} from "../../../../src/service/domain/configuration.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { addShare } from "../../../../src/service/domain/shares/shares.ts";
import { addLink } from "../../../../src/service/domain/links/survey-links.ts";
import type { Project } from "../../../../src/service/domain/inputs.ts";
import type { ProjectRow, Transaction } from "../../../../src/service/domain/ports.ts";
import { openFixture } from "../fixture.ts";

const NUL = "must not have null characters or halves of surrogate pairs";
const LINE = "must be one line without control characters";
const LINES = "must not have control characters";
const url = "https://example.com/";

const question = { id: "q", type: "free_response", text: "Why?", choices: [], scale: null, to: null } as const;

const FIELDS: [string, (bad: string) => WantedConfiguration, string][] = [
  ["settings.sender_name", (bad) => ({ settings: { sender_name: bad } }), LINE],
  ["settings.footer", (bad) => ({ settings: { footer: bad } }), LINES],
  ["brand.name", (bad) => ({ brand: { name: bad } }), LINE],
  ["texts.0.subject", (bad) => ({ texts: [{ subject: bad }] }), LINE],
  ["texts.0.question", (bad) => ({ texts: [{ question: bad }] }), LINE],
  ["texts.0.product_name", (bad) => ({ texts: [{ product_name: bad }] }), LINE],
  ["texts.0.intro", (bad) => ({ texts: [{ intro: bad }] }), LINES],
  ["texts.0.thank_you", (bad) => ({ texts: [{ thank_you: bad }] }), LINES],
  ["texts.0.thank_you_link", (bad) => ({ texts: [{ thank_you_link: url + bad }] }), LINE],
  ["texts.0.thank_you_link_text", (bad) => ({ texts: [{ thank_you_link_text: bad }] }), LINE],
  ["texts.0.comment_question", (bad) => ({ texts: [{ comment_question: bad }] }), LINES],
  ["questions.0.text", (bad) => ({ questions: [{ ...question, text: bad }] }), LINE],
  ["trends.0.name", (bad) => ({ trends: [{ name: bad, where: { plan: "pro" } }] }), LINE],
  ["trends.0.where", (bad) => ({ trends: [{ name: "Pro", where: { [bad]: "pro" } }] }), LINES],
  ["trends.0.where", (bad) => ({ trends: [{ name: "Pro", where: { plan: bad } }] }), LINES],
  ["webhooks.0.url", (bad) => ({ webhooks: [{ url: url + bad }] }), LINE],
  ["digests.0.target", (bad) => ({ digests: [{ target: url + bad, every: "monday" }] }), LINE],
];

test.each(FIELDS)(
  "%s takes no control characters, null characters or halves of surrogate pairs",
  async (path, wanted, control) => {
    const fixture = await openFixture();
    const { store, project } = fixture;
    const apply = (bad: string): Promise<unknown> =>
      fixture
        .write((tx) => applyConfiguration(tx, project as ProjectRow, wanted(bad), { own: [], newSecret: () => "s" }))
        .catch((error: unknown) =>
          error instanceof RefusedConfigurationError ? `${Object.keys(error.errors).join()} ${error.message}` : error,
        );
    expect([await apply("a\0b"), await apply("a\ud800b"), await apply("a\u001b[31mb")]).toEqual([
      `${path} ${NUL}`,
      `${path} ${NUL}`,
      `${path} ${control}`,
    ]);
    await store.close();
  },
);

const NAMES: [string, (tx: Transaction, project: Project, bad: string) => Promise<unknown>][] = [
  ["project", (tx, _, bad) => addProject(tx, bad)],
  ["trend", (tx, project, bad) => addTrend(tx, project, bad, { plan: "pro" })],
  ["link", (tx, project, bad) => addLink(tx, project, bad, {})],
  [
    "share",
    (tx, project, name) =>
      addShare(tx, project, { name, trend: null, segments: [], showsComments: false, expiresAt: null }),
  ],
];

test.each(NAMES)("the name of a %s keeps to the same rule", async (_, add) => {
  const fixture = await openFixture();
  const { store, project } = fixture;
  const message = (bad: string): Promise<unknown> =>
    fixture
      .write((tx) => add(tx, project, bad))
      .catch((error: unknown) => (error instanceof DomainError ? error.message : error));
  expect([await message("a\0b"), await message("a\ud800b"), await message("a\u001bb"), await message(" ")]).toEqual([
    `name ${NUL}`,
    `name ${NUL}`,
    `name ${LINE}`,
    "name can't be blank",
  ]);
  await store.close();
});
