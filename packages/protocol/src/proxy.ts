/**
 * The way out of a network through a proxy, by the variables that curl and most programs read. For Node.js: requests and WebSockets alike go
 * through a CONNECT tunnel, so that the proxy sees neither a credential nor a frame.
 */
import { type Agent, type ClientRequest } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { HttpsProxyAgent } from 'https-proxy-agent';

type Environment = Readonly<Record<string, string | undefined>>;

/** The time a proxy has to open a tunnel. */
const tunnelMs = 15_000;

/** Returns an agent for one request or socket to an http(s) or ws(s) address; undefined without a proxy. */
export function proxyAgentFor(address: string, env: Environment = process.env): Agent | undefined {
  const url = new URL(address.replace(/^ws/, 'http'));
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const own = env[name] || env[name.toUpperCase()];
  const all = env.all_proxy || env.ALL_PROXY || '';
  // ALL_PROXY often names a SOCKS proxy for other programs.
  const value = own || (/^https?:/.test(all) ? all : '');
  if (value === '' || isDirect(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const text = value.includes('://') ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = proxy?.protocol === 'http:' || proxy?.protocol === 'https:';
  return new TunnelAgent(isUsable ? proxy : new URL('http://unusable.invalid'), isUsable ? '' : name.toUpperCase());
}

/** Whether `NO_PROXY` names the host. A proxy never leads to this machine itself. */
function isDirect({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost') || isInside(host, '127.0.0.0/8') || host === '::1')
    return true;
  const actualPort = port || (protocol === 'https:' ? '443' : '80');
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*' || isInside(host, entry)) return true;
      const [, name = '', wantedPort] = /^(.*?)(?::(\d+))?$/.exec(isIPv6(entry) ? `[${entry}]` : entry)!;
      if (wantedPort !== undefined && wantedPort !== actualPort) return false;
      const bare = name.replace(/^\*?\./, '').replace(/^\[|\]$/g, '');
      return host === bare || (isIP(host) === 0 && host.endsWith(`.${bare}`));
    });
}

/** Whether an address lies in a network such as 10.0.0.0/8. */
function isInside(host: string, network: string): boolean {
  const [, base = '', bits = ''] = /^(.+)\/(\d+)$/.exec(network) ?? [];
  const family = isIP(base);
  if (family === 0 || family !== isIP(host) || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(base, Number(bits), kind);
  return list.check(host, kind);
}

/** Names the proxy in every error, so that people do not look for the fault at the relay. */
class TunnelAgent extends HttpsProxyAgent<string> {
  /** The variable that does not contain the address of an http or https proxy; empty if it does. */
  readonly #unusable: string;

  constructor(proxy: URL, unusable: string) {
    super(proxy);
    this.#unusable = unusable;
    this.on(
      'proxyConnect',
      ({ statusCode, statusText }: { statusCode: number; statusText: string }, request: ClientRequest) => {
        if (statusCode === 200) return;
        const why = statusCode === 407 ? 'it wants a user name and a password in its address' : statusText;
        request.destroy(new Error(`the proxy ${proxy.host} refuses the connection (${statusCode}: ${why})`));
      },
    );
  }

  override async connect(...[request, options]: Parameters<HttpsProxyAgent<string>['connect']>) {
    if (this.#unusable !== '')
      throw new Error(`${this.#unusable} must be the address of an http or https proxy: http://proxy.example.com:3128`);
    const late = new AbortController();
    Object.assign(this.connectOpts, { signal: late.signal });
    const timer = setTimeout(() => late.abort(), tunnelMs);
    try {
      return await super.connect(request, options);
    } catch (cause) {
      const why = late.signal.aborted ? `no answer within ${tunnelMs / 1000} s` : (cause as Error).message;
      throw new Error(`the proxy ${this.proxy.host} cannot be reached (${why})`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}
