import type { JsonObject } from "../../../contract/json.ts";

/** `nps_change` and so on: each number of the API less the same one of the period before. */
export function withChanges(current: JsonObject, previous: JsonObject): JsonObject {
  const changes = Object.entries(current).flatMap(([name, value]): [string, number][] => {
    const old = previous[name];
    return typeof value === "number" && typeof old === "number" ? [[changeOf(name), value - old]] : [];
  });
  return { ...current, ...Object.fromEntries(changes) };
}

export function changeOf(field: string): string {
  return `${field}_change`;
}
