import type { JsonObject } from "../../../contract/json.ts";
import { RESOURCES } from "../../../contract/resources.ts";
import type { ColumnKind } from "../../../contract/column-kinds.ts";
import { type Column, pathColumn, type Resource, toResource } from "../../render/columns.ts";
import { METRICS } from "../../render/resources.ts";
import { CHANGE_FIELDS, isSureChange } from "./statistics.ts";

export interface MetricsShape {
  readonly byPeriod: boolean;
  readonly compared: boolean;
  readonly core: boolean;
  /** True if groups other than `core` are included. The service decides which fields they have. */
  readonly open: boolean;
}

const CHANGES: readonly string[] = RESOURCES.metrics.map(({ name }) => changeOf(name));

function changeColumns(byPeriod: boolean): Column[] {
  return [
    ...CHANGE_FIELDS.map((name) => changeColumn(name, name === "p" ? "probability" : "change")),
    ...(byPeriod ? [pathColumn("q", "probability")] : []),
    pathColumn("verdict"),
  ];
}

function changeColumn(name: string, kind: ColumnKind): Column {
  return { ...pathColumn(name, kind), isSure: isSureChange };
}

export const PERIOD_COLUMNS: readonly Column[] = [
  pathColumn("period"),
  pathColumn("since", "time"),
  pathColumn("until", "time"),
];

const PERIOD_TABLE = [
  "nps",
  "nps_low",
  "nps_high",
  "change",
  "verdict",
  "response_count",
  "response_count_change",
  "promoter_percent",
  "passive_percent",
  "detractor_percent",
];

export function metricsResource({ byPeriod, compared, core, open }: MetricsShape): Resource {
  const period = byPeriod ? PERIOD_COLUMNS : [];
  const changes = compared ? [...CHANGES.map((name) => changeColumn(name, "change")), ...changeColumns(byPeriod)] : [];
  const numbers = core ? [...METRICS.columns, ...changes] : [];
  const names = numbers.map(({ name }) => name);
  return {
    noun: "metrics",
    namesValues: true,
    columns: [...period, ...numbers],
    table: byPeriod ? ["period", ...PERIOD_TABLE.filter((name) => names.includes(name))] : names,
    dropFirst: [
      "passive_percent",
      "promoter_percent",
      "detractor_percent",
      "response_count_change",
      "verdict",
      "response_count",
      "nps_low",
      "nps_high",
      "change",
    ],
    open,
  };
}

const CHANCE_MAX = 0.05;

function isBeyondChance({ q }: JsonObject): boolean {
  return typeof q === "number" && q < CHANCE_MAX;
}

export function segmentsResource(compared: boolean): Resource {
  const change = { ...pathColumn("change", "change"), isSure: isBeyondChance };
  const changes = [change, pathColumn("p", "probability"), pathColumn("q", "probability")];
  const columns = [
    pathColumn("property"),
    pathColumn("value"),
    pathColumn("n", "number"),
    pathColumn("share", "share"),
    pathColumn("nps", "points"),
    pathColumn("nps_low", "points"),
    pathColumn("nps_high", "points"),
    ...(compared ? changes : []),
  ];
  const table = columns.map(({ name }) => name).filter((name) => name !== "p");
  return { noun: "segments", columns, table, dropFirst: ["share", "nps_low", "nps_high", "n"] };
}

export const SPLIT: Resource = {
  ...toResource("changes", { change: "change", mix: "change", within: "change", segments: "text" }),
  namesValues: true,
};

export const SCORES = toResource("scores", { score: "score", n: "number", share: "share" });

export const MOVES = toResource("moves", { was: "text", now: "text", people: "number" });

export const ALL_METRICS: Resource = {
  ...METRICS,
  json: [
    metricsResource({ byPeriod: true, compared: true, core: true, open: false }).columns,
    segmentsResource(true).columns,
    SPLIT.columns,
    SCORES.columns,
    MOVES.columns,
  ],
};

export function withSentFields(resource: Resource, sent: JsonObject): Resource {
  if (resource.open !== true) return resource;
  const known = new Set(resource.columns.map(({ name }) => name));
  const further = Object.keys(sent).filter((name) => !known.has(name));
  return {
    ...resource,
    columns: [...resource.columns, ...further.map((name) => pathColumn(name, "number"))],
    table: [...(resource.table ?? []), ...further],
    dropFirst: [...further.toReversed(), ...(resource.dropFirst ?? [])],
  };
}

export function changesOf(current: JsonObject, previous: JsonObject): JsonObject {
  const changes = Object.entries(current).flatMap(([name, value]): [string, number][] => {
    const old = previous[name];
    return typeof value === "number" && typeof old === "number" ? [[changeOf(name), difference(value, old)]] : [];
  });
  return Object.fromEntries(changes);
}

function difference(value: number, old: number): number {
  return Number((value - old).toFixed(10));
}

function changeOf(field: string): string {
  return `${field}_change`;
}
