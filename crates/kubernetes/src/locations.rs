//! Locations of schemas of single kinds: templates of paths and URLs, compatible with kubeconform.

use crate::facts::{Gvk, Version};

/// Whether a location is a template.
pub fn is_template(location: &str) -> bool {
    location.contains("{{")
}

/// The path or URL of the schema of a kind.
///
/// The names in templates are kubeconform's: `ResourceKind`, `ResourceAPIVersion`, `Group`,
/// `KindSuffix`, `NormalizedKubernetesVersion`, `StrictSuffix`.
///
/// ```
/// use ytterby_kubernetes::{Gvk, Version, expand};
/// let gvk = Gvk::of("shop.example.com/v1", "Cache");
/// let version = Version::parse("1.30").unwrap();
/// let path = expand("crds/{{ .Group }}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json", &gvk, version);
/// assert_eq!(path, "crds/shop.example.com/cache_v1.json");
/// ```
pub fn expand(template: &str, gvk: &Gvk, version: Version) -> String {
    let kind = gvk.kind.to_ascii_lowercase();
    let first = gvk.group.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let suffix = if first.is_empty() { format!("-{}", gvk.version) } else { format!("-{first}-{}", gvk.version) };
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, tail)) = tail.split_once("}}") else {
            out.push_str("{{");
            rest = tail;
            continue;
        };
        match name.trim().trim_start_matches('.') {
            "ResourceKind" => out.push_str(&kind),
            "ResourceAPIVersion" => out.push_str(&gvk.version),
            "Group" => out.push_str(&gvk.group),
            "KindSuffix" => out.push_str(&suffix),
            "NormalizedKubernetesVersion" => out.push_str(&format!("v{version}.0")),
            "StrictSuffix" => out.push_str("-strict"),
            _ => {}
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// The templates for a directory: kubeconform's own layout, a flat one, one folder per group.
pub fn layouts(directory: &str) -> Vec<String> {
    let base = directory.trim_end_matches('/');
    [
        "{{.NormalizedKubernetesVersion}}-standalone{{.StrictSuffix}}/{{.ResourceKind}}{{.KindSuffix}}.json",
        "{{.NormalizedKubernetesVersion}}-standalone/{{.ResourceKind}}{{.KindSuffix}}.json",
        "master-standalone{{.StrictSuffix}}/{{.ResourceKind}}{{.KindSuffix}}.json",
        "{{.ResourceKind}}{{.KindSuffix}}.json",
        "{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json",
        "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json",
    ]
    .iter()
    .map(|layout| format!("{base}/{layout}"))
    .collect()
}
