// Required into `serve`: kills it when the answer to the operation with the number KILL_ANSWER would be written.
const { ServerResponse } = require("node:http");

const end = Reflect.get(ServerResponse.prototype, "end");
let answers = 0;

ServerResponse.prototype.end = function replaced(...args) {
  if (this.req.url.startsWith("/v1/operations/")) {
    answers += 1;
    if (answers === Number(process.env.KILL_ANSWER)) process.kill(process.pid, "SIGKILL");
  }
  return Reflect.apply(end, this, args);
};
