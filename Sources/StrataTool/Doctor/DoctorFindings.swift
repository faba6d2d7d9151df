import StrataLog
import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// The findings of `strata doctor`, the worst first.
struct DoctorFindings {
    private(set) var all: [Finding]
    let commitCount: UInt64
    /// The number of older findings, and of saves that may have overwritten values, that were left out.
    let unexaminedCount: UInt64
    let damage: StrataError?

    init(_ scan: DoctorScan) throws {
        let (names, log) = (scan.names, scan.store.reader)
        commitCount = scan.commitCount
        damage = scan.damageOrMalformed
        let kept = [scan.deletions.findings, scan.shares.findings, scan.clock.findings]
        let candidates = [scan.fields.based, scan.fields.blind]
        all = kept.flatMap(\.last)
        all += scan.refusals.findings(names) + scan.shares.invitations(at: scan.lastTime, names)
        all += Self.backAndForth(scan.fields, names)
        all += Self.told { try Self.ofFiles(scan) }
        let overwrites = OverwriteFindings(log, names)
        unexaminedCount = UInt64((kept.map(\.olderCount) + candidates.map(\.olderCount)).reduce(0, +))
        for candidate in candidates.flatMap(\.last) {
            all += Self.told { try overwrites.finding(candidate).map { [$0] } ?? [] }
        }
        all += Self.told { try Self.ofState(scan) }
        all.sort { ($0.kind, $0.offset ?? 0, $0.text) < ($1.kind, $1.offset ?? 0, $1.text) }
    }

    /// Keeps the findings of some kinds that reach past an offset. Those about no commit stay.
    mutating func keep(_ kinds: Set<Finding.Kind>, from first: UInt64) {
        all.removeAll { finding in
            if !kinds.isEmpty, !kinds.contains(finding.kind) { return true }
            return (finding.lastOffset ?? finding.offset).map { $0 < first } ?? false
        }
    }

    /// The number of findings of each kind, the worst first.
    var counts: [(kind: Finding.Kind, count: Int)] {
        Finding.Kind.allCases.compactMap { kind in
            let count = all.count { $0.kind == kind }
            return count == 0 ? nil : (kind, count)
        }
    }

    // MARK: Parts

    /// Returns the findings of a part, or a finding about the reason why it cannot be read.
    private static func told(_ part: () throws -> [Finding]) -> [Finding] {
        do { return try part() } catch {
            return [Finding(kind: .damage, text: Printable.escaped("\(error)"), next: ["verify"])]
        }
    }

    private static func backAndForth(_ fields: FieldChanges, _ names: KnownNames) -> [Finding] {
        fields.backAndForth.map { field in
            let authors = field.authors.map { names.text(of: $0) }.sorted()
            var finding = Finding(
                .backAndForth, field.first, zone: field.record.zone, record: field.record.name,
                people: field.authors.flatMap { names.people($0.user) }.sorted(),
                "\(names.shownField(field.field)) of \(names.shownPlace(ofZone: field.record.zone)) / "
                    + "\(Printable.escaped(field.record.name)) went back and forth between two values, by turns of "
                    + authors.joined(separator: " and "),
                count: field.changeCount,
                next: Finding.history(of: field.record, names), names)
            if field.last.offset != field.first.offset { finding.lastOffset = field.last.offset }
            return finding
        }
    }

    /// The findings that need the state at the end; none for a store whose state cannot be read.
    private static func ofState(_ scan: DoctorScan) throws -> [Finding] {
        guard scan.damageOrMalformed == nil else { return [] }
        let store = try Store.openForReading(at: scan.store.path)
        return try store.closing { store in
            let trees = store.snapshot().trees
            return try scan.devices.findings(in: store, at: scan.lastTime, scan.names)
                + scan.subscriptions.findings(in: store, scan.names)
                + scan.lookAlikes.findings(scan.names) { record in try trees.withRecord(record) { _ in true } ?? false }
        }
    }

    private static func ofFiles(_ scan: DoctorScan) throws -> [Finding] {
        var findings: [Finding] = []
        func add(_ kind: Finding.Kind, _ text: String, next: [String]) {
            findings.append(Finding(kind: kind, text: text, next: next))
        }
        if let damage = scan.damageOrMalformed {
            add(.damage, Printable.escaped(damage.description), next: ["verify"])
        }
        guard scan.damage == nil else { return findings }
        let info = try StoreInfo(scan.store)
        if let tail = info.tail {
            add(
                .store,
                "\(tail.byteCount.counted("byte")) of an unfinished commit follow the last one: "
                    + Printable.escaped(tail.reason), next: ["verify"])
        }
        if let problem = info.viewsProblem {
            add(.store, "the views cannot be described: \(Printable.escaped(problem.description))", next: ["info"])
        }
        guard let views = info.views else { return findings }
        if ![.whole, .missing].contains(views.finding) {
            let reason = views.reasons.first.map { ": \(Printable.escaped("\($0)"))" } ?? ""
            add(.store, "the views are \(views.finding.rawValue)\(reason)", next: ["verify", "--deep"])
        }
        if views.byteCount > max(largeViewsBytes, largeViewsFactor * info.byteCount) {
            add(
                .store,
                "the views take \(views.byteCount.counted("byte")) beside a log of "
                    + info.byteCount.counted("byte"), next: ["info"])
        }
        return findings
    }

    /// The size from which views are compared with the log, and the ratio that is no longer usual.
    private static let largeViewsBytes = 64 << 20
    private static let largeViewsFactor = 8
}
