// A website's reader of /api, on types generated from its OpenAPI file (api.ts beside this one): node api-client.ts URL TOKEN
import createClient from "openapi-fetch";
import type { components, paths } from "./api.ts";

declare const process: { argv: string[] };
type Problem = components["schemas"]["Problem"];
type Refused = Pick<Problem, "error">;

const [, , baseUrl = "", token = ""] = process.argv;
const api = createClient<paths>({
  baseUrl,
  headers: { Authorization: `Bearer ${token}` },
  querySerializer: { array: { style: "form", explode: false } },
});

/** The body, or an error with the line that says why there is none. */
function body<Body>(reply: { data?: Body; error?: Refused }): Body {
  if (reply.data === undefined) throw new Error(reply.error?.error ?? "no body");
  return reply.data;
}

/** An entry or a file that was sent whole. */
function whole<Sent extends object>(sent: string | Sent | null | undefined): Sent {
  if (typeof sent !== "object" || sent === null) throw new Error(`not sent whole: ${sent}`);
  return sent;
}

async function events(cursor?: string): Promise<unknown[]> {
  const page = body(
    await api.GET("/api/event", {
      params: {
        query: {
          "filters[starts_at]": { gte: "2026-12-01", lt: "2027-08-01T00:00:00Z" },
          "filters[places]": { lt: 50 },
          "filters[host]": { in: "ada-okafor,jonas-hofer" },
          "filters[booking_required]": { eq: true },
          sort: ["-starts_at", "title"],
          fields: ["title", "starts_at", "price_eur", "host", "instruments", "programme", "poster"],
          populate: ["host.mentor", "instruments"],
          limit: 1,
          ...(cursor === undefined ? {} : { cursor }),
        },
      },
    }),
  );
  const found = page.data.map(({ title, starts_at, price_eur, host, instruments, programme, poster }) => ({
    title,
    day: starts_at?.slice(0, 10),
    price: price_eur?.toFixed(2),
    host: whole(host).role,
    mentor: whole(whole(host).mentor).title,
    apertures: instruments?.map((instrument) => whole(instrument).aperture_mm),
    programme: programme?.map((row) => row.what) ?? [],
    poster: poster === null ? null : whole(poster).url,
    total: page.total,
  }));
  return page.next_cursor === null ? found : [...found, ...(await events(page.next_cursor))];
}

async function instrument() {
  const entry = body(await api.GET("/api/instrument/{entry}", { params: { path: { entry: "en:instrument:gamskar-reflector" } } }));
  const measured = entry.specifications?.map(({ label, value }) => {
    const told = value.kind === "number" ? value.value.toFixed(1) : value.kind === "boolean" ? !value.value : value.value.length;
    return [label, told];
  });
  const { id, caretaker, observations = null } = entry;
  return { id, fields: Object.keys(entry).length, caretaker, observations, measured };
}

async function skyObject() {
  const entry = body(
    await api.GET("/api/sky-object/{entry}", {
      params: {
        path: { entry: "albireo" },
        query: { locale: "de-AT", fallback: ["de", "en"], format: "html", exclude: ["distance_ly"] },
      },
    }),
  );
  const { title, locale, magnitude, description, chart } = entry;
  return { title, locale, magnitude, description, chart: whole(chart).id, excluded: !("distance_ly" in entry) };
}

async function settings() {
  const { tagline, dome_open_tonight, duty_astronomer, footer, opening_hours } = body(
    await api.GET("/api/site-settings", { params: { query: { populate: ["duty_astronomer"] } } }),
  );
  const below = footer?.flatMap((item) => item.items ?? []).map((item) => item.href);
  return { tagline, dome_open_tonight, duty: whole(duty_astronomer).title, below, days: opening_hours?.map((row) => row.days) };
}

async function search() {
  const page = body(await api.GET("/api/search", { params: { query: { q: "telescope", type: "event", limit: 2 } } }));
  return page.data.map((hit) => [hit.id, hit.score.toFixed(2), hit.snippet.length > 0]);
}

async function refusal() {
  const { error, response } = await api.GET("/api/person/{entry}", { params: { path: { entry: "nobody" } } });
  return { status: response.status, title: error !== undefined && "title" in error && error.title, error: error?.error };
}

const { defaultLocale, locales } = body(await api.GET("/api/locales"));
const seen = {
  events: await events(),
  instrument: await instrument(),
  skyObject: await skyObject(),
  settings: await settings(),
  search: await search(),
  refusal: await refusal(),
  locales: [defaultLocale, ...locales],
};
console.log(JSON.stringify(seen));
