import { add } from "./add.ts";
import { exportPeople } from "./export.ts";
import { get } from "./get.ts";
import { importPeople } from "./import.ts";
import { list } from "./list.ts";
import { removals } from "./removals.ts";
import { reschedule } from "./reschedule.ts";
import { resubscribe } from "./resubscribe.ts";
import { show } from "./show/index.ts";
import { update } from "./update.ts";

const changes = [add, update, reschedule, ...removals, resubscribe];

export const commands = [list, get, show, ...changes, importPeople, exportPeople];
