/// The script and the style of a report's page, from `report.js` and `report.css`, which are compiled into the program.
enum ReportResources {
    /// Searches records and reads the timeline; without it the page lacks only these.
    static let script = text(PackageResources.report_js)
    static let style = text(PackageResources.report_css)

    /// Each begins on a line of its own in the page.
    private static func text(_ file: [UInt8]) -> String { "\n" + String(decoding: file, as: UTF8.self) }
}
