// The viewers of a report: each takes the place of the pictures of its figure, which stay for paper.

/// Saves what a viewer draws, under the name of the figure.
function saveSvg(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function openViewer(container) {
  const figure = container.closest("figure");
  const title = element("h3", {textContent: figure.querySelector(".picture title").textContent});
  const data = JSON.parse(container.nextElementSibling.textContent);
  container.hidden = false;
  container.before(title);
  figure.classList.add("viewed");
  for (const id of data.replaces) document.getElementById(id)?.classList.add("in-viewer");
  container.addEventListener("save", ({detail}) => saveSvg(`${figure.id}.${detail.figure}.svg`, detail.svg));
  return new Viewer(container, makeTrack(data.sequence, data.logp, data.start),
      {name: data.name, marks: data.marks, place: () => data.name, theme: () => THEMES.light});
}

for (const container of document.querySelectorAll(".viewer")) openViewer(container);
