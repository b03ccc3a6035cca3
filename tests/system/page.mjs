// Opens /api/docs in Chromium as a phone has it: node page.mjs URL TOKEN. Shows the types, opens each form of the first collection, sends
// the one for a single entry as it was filled in, and prints how wide the page lays out and what came back.
import { chromium } from "playwright-core";

const [, , base, token] = process.argv;
const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
const faults = [];
page.on("pageerror", (fault) => faults.push(fault.message));
await page.goto(base + "/api/docs");
await page.fill("#token", token);
await page.click("#open button");
const section = page.locator("section", { has: page.getByRole("heading", { name: "Events" }) });
await section.waitFor();
for (const summary of await section.locator("summary").all()) await summary.click();
const form = section.locator("details").last();
await form.locator("input:required:valid").waitFor();
const before = await page.evaluate(() => document.documentElement.scrollWidth);
await form.getByRole("button", { name: "Send" }).click();
await form.locator("pre", { hasText: /^\d{3} / }).waitFor();
const output = await form.locator("pre").textContent();
const after = await page.evaluate(() => document.documentElement.scrollWidth);
console.log(JSON.stringify({ widths: [before, after], status: output.split("\n")[0], faults }));
await browser.close();
