// Draws the plots of the index page with Chart.js. Without it, or without scripts, the tables say
// the same. A lying bar has its label above it and its number at its end, so that no axis is needed
// and long labels fit a phone.
(function () {
  "use strict";
  if (typeof Chart === "undefined") return;
  const data = JSON.parse(document.getElementById("plots").textContent);
  const printed = { "--text": "#000", "--quiet": "#444", "--part": "#2f6fbf", "--bad-fill": "#c2452f", "--belief": "#7a5bb5" };
  const row = 42, bar = 12, number = 30;
  const charts = [];
  let printing = false;

  function colour(name) {
    if (printing) return printed[name];
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function fitted(context, label, width) {
    if (context.measureText(label).width <= width) return label;
    const letters = Array.from(label);
    while (letters.length > 1 && context.measureText(letters.join("") + "…").width > width) letters.pop();
    return letters.join("") + "…";
  }

  // The number of each bar, where an axis would have to be read; a lying bar's label too.
  const words = {
    id: "words",
    afterDatasetsDraw(chart) {
      const context = chart.ctx, plot = chart.plot;
      const font = size => `${size}px ${Chart.defaults.font.family}`;
      context.save();
      chart.getDatasetMeta(0).data.forEach((element, i) => {
        const count = plot.counts[i];
        context.fillStyle = colour("--text");
        context.font = font(13);
        if (plot.lying) {
          context.textBaseline = "middle";
          context.textAlign = "left";
          context.fillText(count, element.x + 7, element.y);
          context.textBaseline = "bottom";
          context.fillText(fitted(context, plot.labels[i], chart.width - 4), 0, element.y - bar / 2 - 3);
        } else if (count > 0) {
          context.textAlign = "center";
          context.textBaseline = "bottom";
          context.fillText(count, element.x, element.y - 3);
        }
      });
      context.restore();
    },
  };

  function draw(canvas, plot) {
    const lying = plot.lying;
    canvas.closest("figure").hidden = false;
    canvas.parentElement.style.height = `${lying ? plot.labels.length * row + 8 : 208}px`;
    const counts = { display: false, beginAtZero: true, suggestedMax: 1 };
    const names = {
      display: !lying, offset: true, grid: { display: false, drawBorder: true, borderColor: () => colour("--quiet") },
      ticks: { color: () => colour("--quiet"), maxRotation: 0 },
      title: { display: true, text: plot.row_name, color: () => colour("--quiet") },
    };
    const chart = new Chart(canvas, {
      type: "bar",
      data: {
        labels: plot.labels,
        datasets: [{
          data: plot.counts, backgroundColor: () => colour(plot.colour), borderRadius: 3,
          ...(lying ? { barThickness: bar } : { categoryPercentage: 0.92, barPercentage: 0.92 }),
        }],
      },
      options: {
        indexAxis: lying ? "y" : "x", animation: false, events: [], responsive: true, maintainAspectRatio: false,
        layout: { padding: lying ? { right: number, top: 8 } : { top: 20 } },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
        scales: lying ? { x: counts, y: names } : { x: names, y: counts },
      },
      plugins: [{ id: "plot", beforeInit(made) { made.plot = plot; } }, words],
    });
    charts.push(chart);
    const table = canvas.closest("section").querySelector("details");
    if (table) table.open = false;
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  for (const canvas of document.querySelectorAll("canvas[data-plot]")) draw(canvas, data[canvas.dataset.plot]);
  const again = () => charts.forEach(chart => { chart.resize(); chart.update("none"); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.addEventListener("beforeprint", () => { printing = true; again(); });
  window.addEventListener("afterprint", () => { printing = false; again(); });
})();
