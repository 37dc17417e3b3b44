import { isLoopbackHost } from "../../runtime/name-resolver.ts";

export function databaseUrlProblem(url: string): string | null {
  if (!URL.canParse(url)) return FORM;
  const { protocol, hostname, searchParams } = new URL(url);
  if (!/^postgres(?:ql)?:$/.test(protocol)) return FORM;
  const isSocket = hostname === "" || (searchParams.get("host") ?? "").startsWith("/");
  const isHere = isSocket || isLoopbackHost(hostname);
  return isHere || searchParams.get("insecure") === "on" || searchParams.get("sslmode") !== "disable" ? null : INSECURE;
}

const FORM = "must be a URL such as postgres://user@host/name";
const INSECURE = "sslmode=disable would send the password readable by others (insecure=on in the URL allows it)";
