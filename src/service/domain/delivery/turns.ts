/** Distributes claims fairly: even if there is less room than projects, all get their turn. */
import type { OutgoingChannel } from "./queue-rows.ts";

interface Share {
  readonly project: number;
  readonly limit: number;
}

export interface Turns {
  /** An equal share for each project with due messages. Unused shares are available at the next call. */
  share(channel: OutgoingChannel, due: readonly number[], room: number): readonly Share[];
}

export function createTurns(): Turns {
  const lasts: Record<OutgoingChannel, number> = {
    email: 0,
    sms: 0,
    reminder: 0,
    "sms-reminder": 0,
    digest: 0,
    reply: 0,
  };
  return {
    share: (channel, due, room) => {
      const last = lasts[channel];
      const projects = [...due.filter((id) => id > last), ...due.filter((id) => id <= last)].slice(
        0,
        Math.max(room, 0),
      );
      let left = room;
      const shares = projects.map((project, index) => {
        const limit = Math.ceil(left / (projects.length - index));
        left -= limit;
        return { project, limit };
      });
      lasts[channel] = projects.at(-1) ?? last;
      return shares;
    },
  };
}
