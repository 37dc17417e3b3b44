import { searchableWords } from "./parse-reply.ts";

export type ReplyReason =
  | "userunknown"
  | "hostunknown"
  | "moved"
  | "disabled"
  | "full"
  | "restricted"
  | "vacation"
  | "auth"
  | "relay"
  | "sender"
  | "quota"
  | "rate"
  | "greylisted"
  | "blocked"
  | "policy"
  | "spam"
  | "content"
  | "size"
  | "syntax"
  | "loop"
  | "network"
  | "tls"
  | "system"
  | "expired"
  | "unknown"
  | "accepted";

interface PhraseList {
  readonly reason: ReplyReason;
  /**
   * True if these phrases are ignored when the reply also has an address code: servers add them to "user unknown" too.
   */
  readonly isWeak: boolean;
  /** As returned by `searchableWords`: lower case, without punctuation. ` … ` matches up to five words. */
  readonly phrases: readonly string[];
}

/** Parses a comma-separated list of phrases, which can span lines. */
function list(isWeak: boolean, reason: ReplyReason, [text = ""]: TemplateStringsArray): PhraseList {
  return { reason, isWeak, phrases: text.split(",").map((phrase) => phrase.trim().replaceAll(/\s+/g, " ")) };
}

const strong = (reason: ReplyReason) => (text: TemplateStringsArray) => list(false, reason, text);
const weak = (reason: ReplyReason) => (text: TemplateStringsArray) => list(true, reason, text);

/** In order of precedence: proof against the sender comes first, and vague words about an address come last. */
const PHRASES: readonly PhraseList[] = [
  // "This mailbox has been blocked due to inactivity."
  strong("disabled")`due to inactivity, for inactivity`,
  weak("vacation")`
    out of office, out of the office, on vacation, vacation reply, vacation message, vacation response, vacation notice,
    on holiday, auto reply, autoreply, automatic reply, auto response, autoresponder, auto responder
  `,
  // Exchange writes "RESOLVER.RST" if the recipient accepts mail only from some senders.
  strong("restricted")`
    resolver rst notauthorized, resolver rst authrequired, resolver rst sendernotauthenticated, user filter, users
    filter, rejected by user, recipient filter, recipients filter, personal filter, recipient preferences
  `,
  weak("restricted")`recipient address rejected access denied, mailbox unavailable or access denied`,
  strong("quota")`
    daily user sending, daily sending, daily … limit, daily … quota, sending limit, sending quota, quota exceeded …
    sending, messages per day, hourly … limit, sending rate exceeded, maximum sending rate
  `,
  strong("auth")`
    authentication required, authentication is required, authentication failed, authentication failure, authentication
    unsuccessful, authentication credentials, authentication needed, must authenticate, must be authenticated, please
    authenticate, not authenticated, need to authenticate, authenticate first, smtp auth, password not accepted, must
    issue a starttls, log in with, check for new mail first, pop before smtp
  `,
  strong("relay")`
    relay access denied, relay denied, relaying denied, relaying is denied, relay not permitted, relaying not permitted,
    relay not allowed, relaying not allowed, relaying is not allowed, relaying is prohibited, relaying prohibited,
    relaying disallowed, relay disallowed, as a relay, relay is prohibited, unable to relay, cannot relay, not permitted
    to relay, not allowed to relay, not a relay, open relay, not relay, we dont relay, rcpthosts, relaying mail to
  `,
  strong("rate")`
    at a rate, rate limit, rate limited, ratelimit, rate control, rate limits, receiving rate, sending rate, message
    rate, unusual rate, throttled, throttling, too many messages, too many recent messages, exceeded the limit for the
    number, exceeded their limit for, frequency limited, excessive volume, unexpected volume, too many emails, too many
    mails, too many connections, too many concurrent, too many sessions, too many errors, too many
    invalid, too many bad, too many unknown, too many … recipients, too fast, too frequently, too quickly, receiving too
    much mail, connection limit, connection rate, exceeded … connections, mail server is busy, slow down
  `,
  weak("greylisted")`greylisted, greylisting, greylist, graylisted, postgrey`,
  strong("blocked")`
    blocked using, block list, block listed, blocklist, blocklisted, blacklist, blacklisted, black list, denylist, deny
    list, rbl, dnsbl, spamhaus, spamcop, sorbs, barracudacentral, senderbase, cloudmark, senderscore, listed at, listed
    on, listed by, currently listed, ip listed, poor reputation, low reputation, bad reputation, your … reputation,
    reputation of your, senders reputation, sender reputation, local block, your ip … blocked, your ip … listed, your ip
    … banned, your ip … rejected, banned sending ip, you are blocked, you have been blocked
  `,
  strong("sender")`
    sender rejected, sender address rejected, sender denied, sender verify failed, sender address verification, sender
    was rejected, after mail from, in reply to mail from
  `,
  strong("full")`
    mailbox full, mailbox has been full, mail box full, inbox full, is full, over quota, overquota, over its quota, over
    the quota, over their quota, out of quota, quota exceeded, quota exceed, quota violation, quota full, quota limit,
    disk quota, mailbox quota, user quota, exceeded … quota, exceeds … quota, exceed … quota, exceeded … storage,
    exceeded … space, exceeds … storage, exceeded … mailbox, mailbox exceeds, mailbox exceeded,
    mailbox … limit, insufficient … storage, insufficient … space, insufficient disk, insufficient system, not enough …
    space, not enough … storage, out of storage, out of space, too much mail data, no space left, storage allocation,
    storage limit
  `,
  strong("userunknown")`
    user unknown, unknown user, addressee unknown, unknown recipient, recipient unknown, unknown mailbox, mailbox
    unknown, unknown local part, no such user, no such recipient, no such mailbox, no such account, no such local user,
    no such person, user not found, recipient not found, recipientnotfound, mailbox not found, user does not exist, user
    doesnt exist, recipient does not exist, mailbox does not exist, invalid recipient, invalid mailbox
  `,
  weak("blocked")`
    blocked, banned, reputation, is listed, are listed, was listed, reverse dns, rdns, ptr, dynamic ip, dynamic address,
    client host, helo, your ip, your host, your server, from your network, not accept mail from, not accepting mail
    from, refused mail from, refuse mail from, rejecting mail from, mail from … refused, connection refused by, ip
    address … denied, ip … rejected
  `,
  weak("policy")`
    policy, policies, spf, dmarc, dkim, sender id, unauthenticated, unauthorized sender, spoofed, security reasons, for
    security, administrative prohibition, administratively, violation, violates, violated
  `,
  weak("spam")`spam, spammer, spamming, antispam, junk, unsolicited, uce, ube, bulk mail, bulk email, abuse, abusive`,
  weak("content")`
    virus, viruses, malware, phishing, infected, malicious, message content, content denied, mail content, content
    rejected, content restriction, banned content, attachment type, attachment types, prohibited attachment, executable
    attachment, attachments are not, attachment is not, banned … attachment, file type, prohibited content, header
    error, missing required header, invalid header, bare lf, not rfc, not compliant, non compliant, rfc 5322, rfc 2822,
    rfc5322, rfc2822
  `,
  weak("policy")`
    prohibited, not authorized, not authorised, message refused, message rejected, mail rejected, rejected by filter,
    rejected for, access denied, access rejected, permission denied, denied by, filtered
  `,
  weak("sender")`
    sender domain, sender not, sender address, senders address, senders domain, domain of sender, from address, return
    path, envelope sender, invalid sender, bad sender
  `,
  weak("size")`
    too large, too big, message size, size limit, maximum size, message length, size exceeds, exceeds … size
  `,
  weak("network")`
    host not found try again, try again later host not found, temporary lookup failure, malformed or unexpected name
    server reply, servfail
  `,
  weak("loop")`mail loop, mail is looping, loop detected, too many hops, routing loop, loops back`,
  weak("expired")`
    delivery time expired, message expired, retry timeout exceeded, could not be delivered for, in the queue too long,
    retry time not reached, delivery expired
  `,
  strong("restricted")`
    not allowed to post, not allowed to send, not permitted to send, dont have permission, do not have permission, you
    may not have permission, only accepts, accepts mail only from, accept mail only from, members only, rejected by
    recipients, rejected by recipient, restricted, subscribers only, moderated, not accept … from this sender,
    recipients … not accepting, refuses to receive, does not wish to receive
  `,
  weak("tls")`certificate, self signed, tls required, starttls required, encryption required`,
  strong("disabled")`
    disabled, inactive, not active, no longer active, suspended, deactivated, discontinued, account … closed, mailbox …
    closed, account … expired, mailbox … expired, account … locked, mailbox … locked, dormant, terminated, has been
    closed, no longer in use
  `,
  strong("hostunknown")`
    host unknown, unknown host, domain not found, host not found, name not found, domain does not exist, domain doesnt
    exist, domain … does not exist, no such domain, no such host, unknown domain, domain unknown, invalid domain,
    illegal host domain name, bad destination, unrouteable mail domain, unrouteable domain, nullmx, null mx, does not
    accept mail, doesnt accept mail, no mx, nxdomain, non existent domain, dns lookup failure … not found, host … not
    found, no smtp service, couldnt find a mail exchanger, couldnt find any host, could not find any host, domain is not
    reachable, does not accept email, no mail server
  `,
  strong("moved")`
    has moved, user moved, no longer with, no longer works, no longer employed, address has changed, address changed,
    changed … address, has left, new address
  `,
  // The Japanese phrases are from Notes and Domino, and mean "not in the directory".
  strong("userunknown")`
    user … unknown, unknown address, address unknown, unknown account, unknown to us, no such address, no such name, no
    such … here, no user, no mailbox, no recipient, no account, no local mailbox, user … not found, recipient … not
    found, mailbox … not found, account not found, address not found, address … not found, email address … not found,
    not found in directory, doesnt exist, didnt exist, not exist, not exists, non existent, nonexistent, non existant,
    doesnt have a … account, does not have a … account, does not have an … account, not have an account, invalid user,
    invalid … userid, no valid recipient, no valid recipients, ディレクトリのリストにありません, ディレクトリには見つかりません, not listed in domino
    directory, not listed in public name address book, not listed in address book, invalid address, invalid email,
    recipient … invalid, recipient is not, bad recipient, bad address, bad destination mailbox, not a valid, is not
    valid, is no longer valid, no longer a valid, not a known, not known, not our customer, not a local, not local,
    mailbox unavailable, mailbox not available, address is unknown, no one by that name, account … not available,
    account is unavailable, account unavailable, user unavailable, unrouteable address, illegal alias
  `,
  weak("network")`
    timed out, timeout, connection refused, connection reset, connection closed, connection dropped, lost connection, no
    route to host, network is unreachable, name server, name service error
  `,
  weak("system")`
    internal error, internal server error, system error, local error, mailer error, service unavailable, not accepting
    network messages
  `,
];

const GAP = " … ";
const BETWEEN = String.raw`(?: \S+){0,5} `;

const MATCHERS = PHRASES.map(({ reason, phrases, isWeak }) => ({
  reason,
  isWeak,
  plain: phrases.filter((phrase) => !phrase.includes(GAP)).map((phrase) => ` ${phrase} `),
  // Phrases contain no punctuation, so they need no escaping.
  gapped: phrases
    .filter((phrase) => phrase.includes(GAP))
    .map((phrase) => new RegExp(` ${phrase.replaceAll(GAP, BETWEEN)} `)),
}));
/** Means "user unknown" only if it is the whole text, because any reason can follow. */
const ALONE = / (?:recipient address|recipient|address) rejected /;
/** Next to a code about the address, even a single word casts doubt, as in `5.1.1 Rate exceeded`. */
const DOUBT = / (rate|full) /;

/** Next to a code about the address, only strong phrases count. */
export function reasonIn(text: string, isNextToAddressCode = false): ReplyReason | null {
  const words = searchableWords(text);
  const found = MATCHERS.find(
    ({ isWeak, plain, gapped }) =>
      !(isWeak && isNextToAddressCode) &&
      (plain.some((phrase) => words.includes(phrase)) || gapped.some((pattern) => pattern.test(words))),
  );
  if (found !== undefined) return found.reason;
  if (ALONE.exec(words)?.[0] === words) return "userunknown";
  return isNextToAddressCode ? ((DOUBT.exec(words)?.[1] as "rate" | "full" | undefined) ?? null) : null;
}
