import { toIsoTime } from "../../../../contract/text/iso-time.ts";
import type { Store } from "../../../../service/domain/ports.ts";
import { writeDone } from "../../../kit/notes.ts";
import { confirmRemoval, YES_FLAG } from "../../../kit/removal.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { toResource } from "../../../render/columns.ts";
import { noteDataFile, PLACE, showRecord, withStore } from "./data-file.ts";

const CLOCK = toResource("clock", { clock: "time", newest_write: "time", behind: "duration" });

export const clock = defineCommand({
  name: "clock",
  summary: "compare the clock with the newest write, and recover from a clock that was ahead",
  examples: ["surveyctl service clock --data survey.db", "surveyctl service clock --reset --yes --data survey.db"],
  exits: [EXIT.done, EXIT.failed, EXIT.refused],
  flags: {
    place: PLACE,
    reset: { text: "forget the later times, so that surveys and retries follow the clock again" },
    yes: YES_FLAG,
  },
  columns: CLOCK,
  run: async (deps, { place, reset, yes }) => {
    const choice = reset ? await noteDataFile(deps, place) : place;
    if (reset)
      await confirmRemoval(deps, { command: "service clock --reset", yes }, async () => {
        const { clock: now, newest_write: newest, behind } = await withStore(deps, choice, (_, store) => read(store));
        const [shown, later] = [now, newest].map(toIsoTime);
        return behind === 0
          ? null
          : `The clock shows ${shown}, the newest write says ${later}. Is the clock right? Then ${later} is forgotten.`;
      });
    const shown = await withStore(deps, choice, async (_, store) => {
      if (reset && (await read(store)).behind > 0) {
        const { takeClockBack } = await import("../../../../service/domain/write-time.ts");
        await store.write(takeClockBack, { project: "all", isLong: true });
      }
      return read(store);
    });
    await showRecord(deps, CLOCK, shown);
    if (reset) await writeDone(deps, "Surveys and retries wait by the clock.");
    else if (shown.behind !== 0) await writeDone(deps, "If the clock is right, use --reset.");
  },
});

/** `behind` is how far the clock is behind the newest write, or 0 if a routine clock correction could explain it. */
async function read(store: Store) {
  const { readLead } = await import("../../../../service/domain/write-time.ts");
  return store.read(async (tx) => ({
    clock: tx.now,
    newest_write: await tx.clock.newestWriteAt(),
    behind: await readLead(tx),
  }));
}
