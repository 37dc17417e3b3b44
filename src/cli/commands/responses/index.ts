import { add } from "./add.ts";
import { answers } from "./answers.ts";
import { remove } from "./change/delete.ts";
import { exportAll } from "./export.ts";
import { get } from "./get.ts";
import { importFile } from "./import.ts";
import { link } from "./link.ts";
import { list } from "./list.ts";
import { note } from "./change/note.ts";
import { show } from "./show.ts";
import { tag } from "./change/tag.ts";
import { tail } from "./tail/tail.ts";
import { update } from "./change/update.ts";
import { words } from "./words.ts";

export const commands = [
  list,
  get,
  show,
  link,
  tail,
  add,
  update,
  remove,
  tag,
  note,
  words,
  answers,
  importFile,
  exportAll,
];
