import { list } from "./list.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { authStatus } from "./status.ts";
import { use } from "./use.ts";

export const commands = [login, logout, authStatus, list, use];
