/** A refusal that HTTP itself asks for, before any rule of the service is looked at. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** `message` is what the caller reads; by default the status' own phrase. */
  constructor(status: number, message?: string, headers: Readonly<Record<string, string>> = {}) {
    super(message ?? statusPhrase(status));
    this.status = status;
    this.headers = headers;
  }
}

const PHRASES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

/** What HTTP calls a status that this service answers with. */
export function statusPhrase(status: number): string {
  return PHRASES[status] ?? "Internal Server Error";
}
