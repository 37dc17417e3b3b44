import { describe, expect, it, test } from "vitest";
import { type AddressKind, classifyAddress, refuseUrl } from "../../../../src/service/domain/webhooks/addresses.ts";

describe("an address", () => {
  it.each<[AddressKind, string, readonly string[]]>([
    ["public", "of a host", ["93.184.216.34", "8.8.8.8", "1.1.1.1", "2606:2800:220:1:248:1893:25c8:1946", "2a00::1"]],
    ["public", "beside a private range", ["9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.1.1"]],
    ["public", "beside another range", ["100.63.255.255", "100.128.0.0", "126.0.0.1", "128.0.0.1", "223.255.255.255"]],
    ["private", "of RFC 1918", ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1"]],
    ["private", "behind a carrier", ["100.64.0.1", "100.127.255.255"]],
    ["private", "unique and local", ["fc00::1", "fd12:3456:789a::1", "FD00::1"]],
    ["loopback", "of this machine", ["127.0.0.1", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1"]],
    ["never", "of this network", ["0.0.0.0", "0.1.2.3", "::"]],
    ["never", "link-local", ["169.254.0.1", "169.254.169.254", "fe80::1", "febf::1", "fe80::1%eth0"]],
    ["never", "of cloud metadata", ["fd00:ec2::254", "100.100.100.200", "168.63.129.16"]],
    ["never", "multicast", ["224.0.0.1", "239.255.255.255", "ff02::1"]],
    ["never", "reserved", ["240.0.0.1", "255.255.255.255", "192.0.0.1", "198.18.0.1", "fec0::1", "4000::1"]],
    ["never", "of documentation", ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"]],
    ["never", "of a tunnel that hides another", ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.88.99.1"]],
    ["loopback", "mapped", ["::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:127.0.0.1"]],
    ["never", "mapped metadata", ["::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::FFFF:A9FE:A9FE"]],
    ["private", "mapped private", ["::ffff:10.0.0.1", "::ffff:0:10.0.0.1"]],
    ["public", "mapped public", ["::ffff:8.8.8.8"]],
    ["loopback", "translated (NAT64)", ["64:ff9b::127.0.0.1", "64:ff9b::7f00:1"]],
    ["never", "translated metadata", ["64:ff9b::169.254.169.254", "64:ff9b:1::169.254.169.254"]],
    ["private", "of 6to4", ["2002:a00:1::", "2002:c0a8:101::1"]],
    ["loopback", "of 6to4 to loopback", ["2002:7f00:1::"]],
    ["never", "of 6to4 to metadata", ["2002:a9fe:a9fe::1"]],
    ["loopback", "compatible", ["::127.0.0.1"]],
    ["private", "compatible and private", ["::10.0.0.1"]],
    ["never", "of no form", ["", "example.com", "127.1", "0x7f.1", "1.2.3.4.5", ":::1"]],
  ])("when it is %s, %s, then it is known as that", (kind, _, addresses) => {
    expect(addresses.map((address) => [address, classifyAddress(address)])).toEqual(
      addresses.map((address) => [address, kind]),
    );
  });
});

const open = { allowPrivate: true, insecureHttp: true };
const closed = { allowPrivate: false, insecureHttp: false };
const OWN = ["https://surveys.example", "http://127.0.0.1:8080"];

describe("a URL", () => {
  const codeOf = (url: string, reach = closed): string | null => refuseUrl(url, reach, OWN)?.code ?? null;

  it.each<[string, string | null, typeof open]>([
    ["https://example.com/hook", null, closed],
    ["https://8.8.8.8/hook", null, closed],
    ["http://example.com/hook", "plain", closed],
    ["http://example.com/hook", null, { ...closed, insecureHttp: true }],
    // The resolved address is checked on every connection.
    ["http://intranet/hook", null, { ...closed, allowPrivate: true }],
    ["http://8.8.8.8/hook", "plain", { ...closed, allowPrivate: true }],
    ["https://10.0.0.1/hook", "private", closed],
    ["http://10.0.0.1/hook", null, { ...closed, allowPrivate: true }],
    ["https://127.0.0.1/hook", "loopback", { ...closed, insecureHttp: true }],
    ["http://127.0.0.1:9000/hook", null, { ...closed, allowPrivate: true }],
    ["http://localhost:9000/hook", null, { ...closed, allowPrivate: true }],
    ["http://[::1]:9000/hook", null, { ...closed, allowPrivate: true }],
    ["https://localhost/hook", "loopback", closed],
    ["https://LOCALHOST/hook", "loopback", closed],
    // Other spellings of 127.0.0.1, 10.0.0.1 and 169.254.169.254.
    ["https://2130706433/", "loopback", closed],
    ["https://0x7f000001/", "loopback", closed],
    ["https://0177.0.0.1/", "loopback", closed],
    ["https://127.1/", "loopback", closed],
    ["https://%31%32%37.0.0.1/", "loopback", closed],
    ["https://１２７.0.0.1/", "loopback", closed],
    ["https://127.0.0.1./", "loopback", closed],
    ["https://012.0.0.1/", "private", closed],
    ["https://169.254.169.254/latest", "never", open],
    ["https://2852039166/latest", "never", open],
    ["https://[::ffff:169.254.169.254]/latest", "never", open],
    ["https://[64:ff9b::a9fe:a9fe]/latest", "never", open],
    ["https://[fd00:ec2::254]/latest", "never", open],
    ["https://0.0.0.0/", "never", open],
    ["https://me@example.com/", "credentials", open],
    ["https://me:word@example.com/", "credentials", open],
    ["ftp://example.com/", "scheme", open],
    ["file:///etc/passwd", "invalid", open],
    ["example.com", "invalid", open],
    ["", "invalid", open],
    ["https://surveys.example/hooks/x", "own", open],
    ["https://SURVEYS.example:443/hooks/x", "own", open],
    ["http://127.0.0.1:8080/hooks/x", "own", open],
    ["http://localhost:8080/", "own", open],
    ["http://[::1]:8080/", "own", open],
    ["http://surveys.example/hooks/x", "own", open],
    ["https://surveys.example./", "own", open],
    ["https://surveys.example:8443/", null, open],
  ])("when it is %s, then it is refused as %s", (url, code, reach) => {
    expect(codeOf(url, reach)).toBe(code);
  });
});

test("when a URL is refused, then the sentence says what its host is", () => {
  expect(refuseUrl("https://[::ffff:10.0.0.1]/", closed, [])).toEqual({
    code: "private",
    message: "[::ffff:a00:1], a private address",
  });
});
