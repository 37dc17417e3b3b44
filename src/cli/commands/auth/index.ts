import { list } from "./list.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { status } from "./status.ts";
import { use } from "./use.ts";

export const commands = [login, logout, status, list, use];
