import { add } from "./add.ts";
import { config } from "./config.ts";
import { exportMembers } from "./export.ts";
import { importMembers } from "./import.ts";
import { list } from "./list.ts";
import { move } from "./move.ts";
import { remove } from "./remove.ts";

export const commands = [list, add, move, remove, config, importMembers, exportMembers];
