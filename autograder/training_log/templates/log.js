// Draws the plots of a log's page with Chart.js. Without it, or without scripts, the sentences above
// the plots say the range. A value that is not finite is a gap with a mark, never a 0.
(function () {
  "use strict";
  if (typeof Chart === "undefined") return;
  const data = JSON.parse(document.getElementById("plots").textContent);
  const printed = { "--text": "#000", "--quiet": "#444", "--line": "#bbb", "--part": "#2f6fbf", "--bad-fill": "#c2452f", "--belief": "#7a5bb5", "--odd": "#c98a1b" };
  const charts = [];
  let printing = false;

  function colour(name, alpha) {
    const value = printing ? printed[name] : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    return alpha ? value + alpha : value;
  }

  function short(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e6) return String(value);
    if (size >= 1e6 || size < 1e-3) return value.toExponential(0).replace("e+", "e");
    return String(Number(value.toPrecision(3)));
  }

  // The lines of a logarithmic axis: powers of the base, not more than fit; one line for one value.
  function powers(low, high, base) {
    const log = value => Math.log(value) / Math.log(base);
    const from = Math.ceil(log(low) - 1e-9), to = Math.floor(log(high) + 1e-9);
    const every = Math.max(1, Math.ceil((to - from) / 5));
    const ticks = [];
    for (let power = to; power >= from; power -= every) ticks.unshift({ value: Math.pow(base, power) });
    return ticks;
  }

  // Marks at the top where values are not finite.
  const marks = {
    id: "marks",
    afterDatasetsDraw(chart) {
      const context = chart.ctx, area = chart.chartArea, x = chart.scales.x;
      context.save();
      context.strokeStyle = colour("--bad-fill");
      context.lineWidth = 2;
      for (const step of chart.plot.bad) {
        const at = x.getPixelForValue(step), y = area.top + 5;
        context.beginPath();
        context.moveTo(at - 3, y - 3); context.lineTo(at + 3, y + 3);
        context.moveTo(at + 3, y - 3); context.lineTo(at - 3, y + 3);
        context.stroke();
      }
      context.restore();
    },
  };

  function datasets(plot) {
    if (plot.bars) {
      return [{ type: "bar", data: plot.mean.filter(point => point.y > 0), backgroundColor: () => colour(plot.colour), barThickness: 3 }];
    }
    const line = { pointRadius: plot.mean.length < 3 ? 3 : 0, borderWidth: 1.6, spanGaps: false, stepped: plot.steps ? "before" : false };
    const edge = { pointRadius: 0, borderWidth: 0, spanGaps: false };
    return [
      { data: plot.mean, borderColor: () => colour(plot.colour), ...line },
      { data: plot.least, ...edge },
      { data: plot.most, fill: "-1", backgroundColor: () => colour(plot.colour, "33"), ...edge },
    ];
  }

  function draw(canvas, plot) {
    canvas.closest("figure").hidden = false;
    const quiet = () => colour("--quiet"), grid = () => colour("--line");
    const y = {
      type: plot.logarithmic ? "logarithmic" : "linear", beginAtZero: plot.bars, grace: plot.logarithmic ? 0 : "5%",
      ticks: { color: quiet, maxTicksLimit: 6, precision: plot.bars ? 0 : undefined, callback: short },
      grid: { color: grid, drawBorder: false },
      afterFit(scale) { scale.width = 56; },
      afterBuildTicks(scale) {
        if (plot.flat !== null) scale.ticks = [{ value: plot.flat }];
        if (!plot.logarithmic) return;
        const ticks = powers(scale.min, scale.max, plot.steps ? 2 : 10);
        if (ticks.length > 1) scale.ticks = ticks;
      },
    };
    const chart = new Chart(canvas, {
      type: plot.bars ? "bar" : "line",
      data: { datasets: datasets(plot) },
      options: {
        animation: false, events: [], responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
        layout: { padding: { top: 10, right: 8 } },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
        scales: {
          x: { type: "linear", offset: false, min: plot.first, max: plot.last, ticks: { color: quiet, maxRotation: 0, maxTicksLimit: 7, callback: value => Number.isInteger(value) ? value.toLocaleString("en") : "" }, grid: { display: false, borderColor: quiet }, title: { display: true, text: "step", color: quiet } },
          y,
        },
      },
      plugins: [{ id: "plot", beforeInit(made) { made.plot = plot; } }, marks],
    });
    charts.push(chart);
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  for (const canvas of document.querySelectorAll("canvas[data-plot]")) {
    const plot = data[canvas.dataset.plot];
    if (plot) draw(canvas, plot);
  }
  const again = () => charts.forEach(chart => { chart.resize(); chart.update("none"); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.addEventListener("beforeprint", () => { printing = true; again(); });
  window.addEventListener("afterprint", () => { printing = false; again(); });
})();
