import { login } from "./login.ts";
import { list, logout, use } from "./profiles.ts";
import { authStatus } from "./status.ts";

export const commands = [login, logout, authStatus, list, use];
