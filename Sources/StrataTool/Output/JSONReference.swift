import StrataQuery
import StrataReplay
import StrataStore

/// The page docs/reference/json.md, generated from the shapes that write `--json`.
enum JSONReference {
    private static let sections: [(title: String, shapes: [any DescribedShape])] = [
        ("strata info", [StoreInfo.shape, SequencerInfo.shape]),
        ("strata doctor", [Finding.shape, DoctorFindings.shape]),
        ("strata stats", [StatisticsReport.shape]),
        ("strata log, strata show", [CommitJSON.Line.shape, EventJSON.patch]),
        ("strata history", [HistoryCommand.shape]),
        ("strata blame", [BlameCommand.shape]),
        ("strata explain", [ExplanationJSON.shape, NotificationExplanation.shape]),
        ("strata segments", [SegmentsCommand.shape]),
        ("strata frames", [FrameJSON.head, FrameJSON.piece, FrameJSON.footer]),
        ("strata verify", [VerifyCommand.shape]),
        ("strata repair", [RepairCommand.shape]),
        ("strata get", [RecordDetail.shape]),
        ("strata records", [RecordList.shape, RecordList.end]),
        ("strata query", [RecordJSON.shape, RecordJSON.end, QueryPlan.shape]),
        ("strata bisect", [BisectionReport.flip, BisectionReport.End.shape]),
        ("strata diff", [RecordDifference.shape, DifferenceReport.end]),
        ("strata debug", [DebugReport.stop, DebugReport.mark, DebugReport.field, DebugReport.note]),
        ("strata what-if", [RerunCommit.shape, WhatIfReport.end, WhatIfReport.noAnswer]),
        ("strata minimize", [MinimizationReport.request, MinimizationReport.end]),
        ("strata zones", [ZonesCommand.Line.shape]),
        ("strata subscriptions", [SubscriptionDetail.shape]),
        ("strata users", [UserDetail.shape]),
        ("strata shares", [ShareDetail.shape]),
        ("strata access", [AccessDetail.shape]),
        ("strata device", [DeviceView.shape, SyncStateReport.shape]),
        ("strata feed", [FeedChange.shape, FeedPages.end]),
        ("strata play", [PlayedCommit.shape, PlayReport.push]),
        ("strata token", [TokenReport.shape]),
        (
            "strata export",
            [
                ExportHeader.shape, CommitExport.commit, CommitExport.basePayload, RecordExport.zone,
                RecordExport.record, RecordExport.person, ExportEnd.shape,
            ]
        ),
        ("strata import", [ImportReport.shape]),
        ("strata compact", [CompactCommand.planShape, CompactCommand.doneShape]),
        ("strata erase", [EraseCommand.shape]),
        ("strata rebuild-views", [RebuildViewsCommand.shape]),
        ("strata create, strata join, strata replicate, strata promote", [ReplicationReport.shape]),
        ("strata trim", [TrimReport.shape]),
        ("strata assets", [AssetsReport.shape]),
        ("errors of all commands", [Diagnostics.Problem.shape]),
    ]

    private static let introduction = """
        # JSON output

        <!-- Generated from Sources/StrataTool by STRATA_UPDATE_GOLDEN=1 tools/test --filter JSONReference. -->

        For programs that read the output of [the tool](../guide/tool.md): this page describes the objects that its
        commands print with `--json`, and those of `strata export`. Each line is one object, with its keys in the order
        of the tables. Later versions may add keys, but never rename one or change its type.

        | kind | meaning |
        |---|---|
        | number | an integer of up to 64 bits, except for values of fields. Times are microseconds since \
        1970-01-01T00:00:00Z, and an ordinal is the number that the log has for a name. Names are those that were \
        interned up to the commit, as far back as the log reaches |
        | id | 32 hexadecimal digits |
        | 8 digits | 8 hexadecimal digits, of a chain value or a checksum |
        | change tag | a text that identifies a version |

        """

    /// Returns the whole page.
    static var page: String {
        var page = introduction
        var written: Set<String> = []
        for (title, shapes) in sections {
            page += "\n## \(title)\n"
            for shape in shapes {
                let name = shape.description.name
                if written.contains(name) { page += "\n[\(name)](#\(anchor(of: name)))\n" }
                write(shape.description, to: &page, &written)
            }
        }
        return page + "\n## Contents of values\n\n\(ValueContent.reference)\n"
    }

    /// Returns the address of a section on the page.
    static func anchor(of name: String) -> String {
        String(name.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" })
            .split(separator: " ", omittingEmptySubsequences: false).joined(separator: "-")
    }

    /// Appends a shape and then the shapes of its parts, each once.
    private static func write(_ shape: ShapeDescription, to page: inout String, _ written: inout Set<String>) {
        guard written.insert(shape.name).inserted else { return }
        page += "\n### \(shape.name)\n"
        if !shape.text.isEmpty { page += "\n\(shape.text)\n" }
        write(shape.keys.filter { $0.part == nil }, to: &page)
        var parts: [String] = []
        for case let part? in shape.keys.map(\.part) where parts.last != part { parts.append(part) }
        for part in parts {
            page += "\n#### \(part)\n"
            write(shape.keys.filter { $0.part == part }, to: &page)
        }
        for part in shape.keys.flatMap(\.kind.shapes) { write(part, to: &page, &written) }
    }

    private static func write(_ keys: [KeyDescription], to page: inout String) {
        page += "\n| key | kind | meaning | present |\n|---|---|---|---|\n"
        for key in keys {
            page += "| `\(key.key)` | \(key.kind.text) | \(key.text) | \(key.condition ?? "always") |\n"
        }
    }
}
