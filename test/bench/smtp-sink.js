// A cheap mail server that accepts everything and stores nothing. Argument: delay of its replies in milliseconds.
import { createServer } from "node:net";

const DOT = Buffer.from("\r\n.\r\n");
const REPLIES = {
  EHLO: "250-sink\r\n250-PIPELINING\r\n250 SIZE 1000000",
  DATA: "354 go on",
  QUIT: "221 bye",
};

const delayMs = Number(process.argv[2] ?? 0);

const server = createServer((socket) => {
  let waiting = Buffer.alloc(0);
  let inMessage = false;
  socket.setNoDelay(true);
  socket.write("220 sink\r\n");
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    const replies = [];
    let isLate = false;
    for (;;) {
      const end = waiting.indexOf(inMessage ? DOT : "\r\n");
      if (end === -1) break;
      const verb = inMessage ? "" : waiting.toString("latin1", 0, 4).toUpperCase();
      waiting = waiting.subarray(end + (inMessage ? DOT.length : 2));
      replies.push(REPLIES[verb] ?? "250 2.0.0 Ok: queued as SINK");
      isLate ||= inMessage;
      inMessage = verb === "DATA";
    }
    if (replies.length === 0) return;
    const say = () => socket.write(`${replies.join("\r\n")}\r\n`);
    if (isLate && delayMs > 0) setTimeout(say, delayMs);
    else say();
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
