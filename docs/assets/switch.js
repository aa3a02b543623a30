// The switch between versions: a list in the header, of the folders beside this version's.
(() => {
  const root = new URL("..", document.currentScript.src);
  const own = decodeURIComponent(root.pathname).split("/").filter(Boolean).at(-1);
  const versions = window.rueVersions ?? [];
  document.addEventListener("DOMContentLoaded", () => {
    const header = document.querySelector(".md-header__inner");
    if (!header || versions.length < 2 || !versions.includes(own)) return;
    const select = document.createElement("select");
    select.className = "rue-versions";
    select.setAttribute("aria-label", "Version of this documentation");
    for (const version of versions) {
      const option = new Option(version, version, version === own, version === own);
      select.append(option);
    }
    select.addEventListener("change", () => {
      location.href = new URL(`../${select.value}/index.html`, root).href;
    });
    const title = header.querySelector(".md-header__title");
    title ? title.after(select) : header.append(select);
  });
})();
