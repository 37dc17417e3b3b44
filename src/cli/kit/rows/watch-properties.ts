import type { CallOptions, Client, Page, Parameters } from "../../../client/client.ts";
import { idText, personIdOf } from "../../../client/write/look-up.ts";
import { isJsonObject, type JsonObject, propertyText } from "../../../contract/json.ts";
import { PER_PAGE_MAX } from "../../../contract/limits.ts";
import { plainAnswers } from "../../../contract/questions/additional-answers.ts";
import { PERSON_EXPANSIONS, ROUTES } from "../../../contract/routes.ts";
import { suggest } from "../../args/suggest.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { toSafeText } from "../../render/safe-text.ts";
import type { Deps } from "../deps.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { writeNote } from "../notes.ts";
import { nullIfRefused } from "../refusals.ts";
import { attachStored, groupConditions, meets, type PropertyCondition, propertyOf, storedWith } from "./properties.ts";

const LISTS = {
  responses: { route: ROUTES.listResponses, list: "listResponses", map: "person_properties", one: "response" },
  people: { route: ROUTES.listPeople, list: "listPeople", map: "properties", one: "person" },
} as const;
type ListName = keyof typeof LISTS;

export interface PropertyUse {
  readonly conditions?: readonly PropertyCondition[] | undefined;
  readonly segments?: readonly string[];
  readonly onNote?: (note: string) => unknown;
}

export const ANSWERS = "answers.";

/** Prints notes about properties after the command. Throws NothingFoundError if no row has a segment. */
export function watchProperties(deps: Deps, of: ListName, use: PropertyUse): Deps {
  const { conditions = [], segments = [], onNote = (note) => writeNote(deps, note) } = use;
  const names = [...new Set([...conditions.map(([key]) => key), ...segments])];
  if (names.length === 0) return deps;
  const { route, list } = LISTS[of];
  return {
    ...deps,
    connect: async () => {
      const { client, ...connection } = await deps.connect();
      const facts = createFacts(of, names);
      const addStored = createStoredReader(client, of === "responses" ? names : [], deps.signal);
      const look = async (page: Page): Promise<Page> => {
        await addStored(page.rows);
        facts.add(page.rows);
        return page;
      };
      const watched: Client = {
        ...client,
        page: async (call) => (call.route === route ? look(await client.page(call)) : client.page(call)),
        [list]: async function* (parameters: Parameters, options?: CallOptions) {
          for await (const page of client[list](parameters, options)) yield await look(page);
        },
      };
      const onDone = async (): Promise<void> => {
        for (const note of facts.notes(groupConditions(conditions), segments)) await onNote(note);
      };
      return { ...connection, client: watched, onDone };
    },
  };
}

function createStoredReader(client: Client, names: readonly string[], signal: AbortSignal) {
  const wanted = names.filter((name) => !name.startsWith(ANSWERS));
  let isKept = true;
  return async (rows: readonly JsonObject[]): Promise<void> => {
    const lacking = rows.filter((row) => wanted.some((name) => propertyText(row["person_properties"], name) === null));
    if (!isKept || lacking.length === 0) return;
    const parameters = {
      ids: [...new Set(lacking.map(personIdOf))],
      expand: [...PERSON_EXPANSIONS],
      per_page: PER_PAGE_MAX,
    };
    const page = await nullIfRefused(client.page({ route: ROUTES.listPeople, parameters, signal }));
    // A service that doesn't support stored properties ignores `ids` and `expand`.
    isKept = page !== null && page.rows.every(({ properties }) => isJsonObject(properties));
    const people = new Map(isKept ? page?.rows.map(({ id, properties }) => [idText(id), properties]) : []);
    for (const row of lacking) attachStored(row, people.get(personIdOf(row)));
  };
}

const VALUES_MAX = 1000;

function createFacts(of: ListName, names: readonly string[]) {
  const { map, one } = LISTS[of];
  const values = new Map(names.map((name) => [name, new Set<string>()]));
  const known = new Set<string>();
  let [rowsSeen, rowsFilled] = [0, 0];
  const add = (rows: readonly JsonObject[]): void => {
    rowsSeen += rows.length;
    for (const row of rows) {
      let isFilled = false;
      for (const [name, kept] of values) {
        const own = propertyText(row[map], name) ?? answerTo(row, name);
        const value = own ?? propertyOf(row, map, name);
        if (value !== null && kept.size < VALUES_MAX) kept.add(value);
        isFilled ||= value !== own;
      }
      if (isFilled) rowsFilled += 1;
    }
    const [first = {}] = rows;
    for (const found of [first[map], storedWith(first)]) for (const name of Object.keys(found ?? {})) known.add(name);
    for (const { id } of plainAnswers(first)) known.add(ANSWERS + id);
  };
  const explain = (what: string, typed: string, candidates: readonly string[], others = ""): Explanation => {
    const nearest = suggest(typed, candidates);
    const hint = nearest === null ? others : `did you mean ${toSafeText(nearest)}?`;
    return { message: `no ${one} has ${toSafeText(what)}`, hint: hint === "" ? null : hint };
  };
  const explainMissing = (missing: readonly string[]): Explanation => {
    const what = `the property ${missing.join(" or ")}`;
    if (missing.every((name) => known.has(name))) return explain(`a value of ${what}`, "", []);
    const others = [...known].slice(0, 10).map(toSafeText).join(", ");
    return explain(what, missing[0] ?? "", [...known], others && `${of} have ${others}`);
  };
  const explainGroup = (group: readonly PropertyCondition[]): Explanation[] => {
    const [[key, typed] = ["", ""]] = group;
    const found = [...(values.get(key) ?? [])];
    const mayMatch = [null, ...found].some((value) => group.some((condition) => meets(value, condition)));
    if (mayMatch || found.length === VALUES_MAX) return [];
    const texts = group.map(([, value, comparison = "="]) => `${key}${comparison}${value}`);
    if (found.length === 0) return [explainMissing([key])];
    // Hints aren't redacted, so they must not suggest an address or number.
    const impersonal = found.filter((value) => !/@|\d{4}/.test(value));
    return [explain(texts.join(" or "), typed, impersonal)];
  };
  const notes = (groups: readonly (readonly PropertyCondition[])[], segments: readonly string[]): readonly string[] => {
    if (rowsSeen === 0) return [];
    const missing = segments.filter((name) => values.get(name)?.size === 0);
    const none = explainMissing(missing);
    if (missing.length > 0 && missing.length === segments.length) throw new NothingFoundError(none.message, none.hint);
    const explained = [...missing.map((name) => explainMissing([name])), ...groups.flatMap(explainGroup)];
    const filled = `${countOf(rowsFilled, "response lacks", "responses lack")} ${names.map(toSafeText).join(" or ")}`;
    return [
      ...explained.map(({ message, hint }) => (hint === null ? message : `${message}; ${hint}`)),
      ...(rowsFilled > 0 ? [`${filled}; values stored with the person are used instead`] : []),
    ];
  };
  return { add, notes };
}

interface Explanation {
  readonly message: string;
  readonly hint: string | null;
}

function answerTo(row: JsonObject, name: string): string | null {
  return name.startsWith(ANSWERS) && plainAnswers(row).some(({ id }) => ANSWERS + id === name) ? name : null;
}
