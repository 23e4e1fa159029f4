"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  document.documentElement.classList.add("js");

  const metric = byId("curve-metric");
  if (metric) {
    const sets = JSON.parse(byId("curve-data").textContent);
    const template = document.querySelector("#domain-panels .panel");
    const panelFor = new Map();
    for (const panel of document.querySelectorAll("#domain-panels .panel")) panelFor.set(panel.dataset.panel, panel);
    for (const set of Object.values(sets)) {
      for (const name of Object.keys(set.panels)) {
        if (panelFor.has(name)) continue;
        const panel = template.cloneNode(true);
        panel.dataset.panel = name;
        const caption = panel.querySelector("figcaption span");
        caption.textContent = name;
        caption.title = name;
        byId("domain-panels").append(panel);
        panelFor.set(name, panel);
      }
    }
    const show = () => {
      const set = sets[metric.value];
      byId("curve-title").textContent = metric.selectedOptions[0].textContent;
      byId("curve-low").textContent = set.low;
      byId("curve-high").textContent = set.high;
      byId("curve-steps").textContent = set.steps.join(" to ");
      for (const [name, panel] of panelFor) {
        const [raw, smooth, last] = set.panels[name] || ["", "", "-"];
        panel.querySelector(".raw").setAttribute("points", raw);
        panel.querySelector(".smooth").setAttribute("points", smooth);
        panel.querySelector(".last").textContent = last;
        panel.classList.toggle("empty", !smooth);
      }
    };
    metric.addEventListener("change", show);
    show();
  }

  const filters = ["domain", "stage", "pick", "text"].map((name) => byId("sample-" + name));
  if (filters[0]) {
    const [domain, stage, pick, text] = filters;
    const show = () => {
      const wanted = text.value.trim().toLowerCase();
      const active = Boolean(domain.value || stage.value || pick.value || wanted);
      let count = 0;
      for (const details of document.querySelectorAll("details.domain")) {
        let shown = 0;
        for (const sample of details.querySelectorAll(".sample")) {
          const hit =
            (!domain.value || details.dataset.domain === domain.value) &&
            (!stage.value || sample.dataset.stage === stage.value) &&
            (!pick.value || sample.dataset.pick === pick.value) &&
            (!wanted || sample.textContent.toLowerCase().includes(wanted));
          sample.hidden = !hit;
          shown += hit;
        }
        details.hidden = shown === 0;
        details.open = active && shown > 0 && (Boolean(domain.value) || Boolean(wanted));
        count += shown;
      }
      byId("sample-count").textContent = count + " shown";
    };
    for (const filter of filters) filter.addEventListener("input", show);
    byId("sample-count").textContent = document.querySelectorAll(".sample").length + " shown";
  }
})();
