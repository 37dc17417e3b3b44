/** Each operation has its line in the log, nothing else has one, and the last line shows the current value. */
import { insist } from "../world/administrators.ts";
import type { Project, World } from "../world/world.ts";
import type { End } from "./possible.ts";

/** Starts an operation that adds a line to the log of each of these projects. */
export function beginDeed({ ledger }: World, projects: readonly Project[], operation: string): End {
  return (outcome) => {
    for (const { name } of projects) {
      const key = `${name} ${operation}`;
      const { surely, perhaps } = ledger.deeds.get(key) ?? { surely: 0, perhaps: 0 };
      ledger.deeds.set(key, {
        surely: surely + (outcome === "acknowledged" ? 1 : 0),
        perhaps: perhaps + (outcome === "refused" ? 0 : 1),
      });
    }
  };
}

interface Line {
  readonly operation: string;
  readonly result: { readonly requests?: number | null } | null;
}

export async function checkLog(world: World, { name: project }: Project): Promise<void> {
  const { ledger } = world;
  // A clock years ahead expires lines early.
  if (ledger.clocks.wereYearsAhead) return;
  const lines: Line[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const call = { kind: "log", project, limit: 500, after: after ?? null } as const;
    const page = await insist(world, ({ admin }) => admin(call));
    lines.push(...((page?.rows ?? []) as unknown as Line[]));
    after = page?.next ?? null;
  }
  for (const operation of ["pause", "erase", "retention", "people.delete"]) {
    const { surely, perhaps } = ledger.deeds.get(`${project} ${operation}`) ?? { surely: 0, perhaps: 0 };
    const found = lines.filter((line) => line.operation === operation).length;
    if (found < surely || found > perhaps)
      ledger.violate(`${project}: the log has ${found} of ${surely} to ${perhaps} lines of ${operation}`);
  }
  const last = lines.find(({ operation }) => operation === "retention")?.result?.requests ?? null;
  const kept = await insist(world, ({ admin }) => admin({ kind: "retention", project }));
  if (kept !== null && kept.requests !== last)
    ledger.violate(`${project}: surveys are kept for ${kept.requests} s, and the log says ${last}`);
}
