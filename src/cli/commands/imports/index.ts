import { clean } from "./clean.ts";
import { list } from "./list.ts";

export const commands = [list, clean];
