/** What the running job's rows share. One job runs at a time, so one of these serves a store. */
export interface Session {
  /** The running job's frozen time, Unix seconds. */
  now: number;
}
