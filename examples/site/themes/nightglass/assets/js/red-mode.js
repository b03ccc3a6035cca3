// Red mode: press "r" to keep your night vision. The weather line is the only request this theme makes.
document.addEventListener("keydown", (event) => {
  if (event.key === "r") document.documentElement.classList.toggle("red");
});
const line = document.querySelector("[data-weather]");
if (line) {
  fetch("https://weather.falkenried.example/now.json")
    .then((reply) => (reply.ok ? reply.json() : null))
    .then((now) => { if (now) line.textContent = `${now.cloud} % cloud, ${now.temperature} °C`; })
    .catch(() => { line.hidden = true; });
}
