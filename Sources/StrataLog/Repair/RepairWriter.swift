import StrataModel
import StrataSystem

/// Carries out a repair. After each step, a repair can be run again on the store: copies are durable before any file
/// leaves, and files have left durably before anything is changed.
struct RepairWriter {
    let paths: StorePaths
    let platform: Platform
    private var files: any FileSystem { platform.files }

    func carryOut(_ plan: RepairPlan) throws {
        guard let note = plan.note else { return }
        try files.replace(note, in: paths.log, with: RepairNote(plan, at: platform.time.nowMicroseconds()).bytes)
        let kinds: [[RepairPlan.Step.Kind]] = [[.copy], [.move], [.header, .rewrite, .seal, .cut, .floor]]
        for group in kinds {
            let steps = plan.steps.filter { group.contains($0.kind) }
            for step in steps { try carryOut(step) }
            if !steps.isEmpty { try files.syncDirectory(paths.log) }
            if steps.contains(where: { $0.path.hasPrefix(paths.views) }) { try files.syncDirectory(paths.views) }
        }
    }

    private func carryOut(_ step: RepairPlan.Step) throws {
        switch (step.kind, step.target, step.position) {
        case (.copy, let target?, _): try copy(step.path, to: target)
        case (.move, let target?, _): try files.rename(step.path, to: target)
        case (.cut, _, let position?):
            try change(step.path) { try $0.truncate(to: position) }
        case (.header, _, _): try change(step.path) { try $0.write(step.header, at: 0) }
        case (.rewrite, _, _): try rewrite(step)
        case (.seal, _, let position?): try writeSeal(step, at: position)
        case (.floor, _, _):
            guard let floor = step.floor else { preconditionFailure("a floor must be known before it is written") }
            try files.replace(paths.floor, in: paths.log, with: floor.encoded())
        default: preconditionFailure("a step must have the values that its kind needs")
        }
    }

    private func change(_ path: String, _ body: (any File) throws -> Void) throws {
        let file = try files.open(path, .write)
        defer { file.close() }
        try body(file)
        try file.sync()
    }

    private func writeSeal(_ step: RepairPlan.Step, at position: Int) throws {
        guard let seal = step.seal else { preconditionFailure("a seal must be known before it is written") }
        try change(step.path) { file in
            let header = try SegmentHeader.read(file)
            var assembler = FrameAssembler()
            assembler.addClosing(
                .seal, end: seal.end, time: seal.time,
                at: .init(salt: header.salt, position: position, durableOffset: seal.end.offset))
            try file.write(assembler.bytes, at: position)
            try file.truncate(to: position + assembler.count)
        }
    }

    private func rewrite(_ step: RepairPlan.Step) throws {
        guard let rewrite = step.rewrite else {
            preconditionFailure("the content that stays must be known before it is written")
        }
        if try files.exists(paths.sealing) { try files.remove(paths.sealing) }
        let source = try files.open(step.path, .read)
        defer { source.close() }
        let draft = try files.open(paths.sealing, .create)
        defer { draft.close() }
        let header = try SegmentHeader.read(source)
        let segment = SegmentFile(
            path: step.path, header: header,
            seal: SegmentFile.Seal(end: rewrite.end, time: rewrite.time, position: 0))
        let walk = BlockWalk(header, FileWindow(source, limit: try source.size()))
        try SegmentSealer(segment, into: draft).rewrite(walk, lookup: rewrite.name)
        try files.rename(paths.sealing, to: step.path)
    }

    /// Copies a file; the copy gets its final name once it is whole.
    private func copy(_ path: String, to target: String) throws {
        let draft = target + ".new"
        if try files.exists(draft) { try files.remove(draft) }
        let source = try files.open(path, .read)
        defer { source.close() }
        let copy = try files.open(draft, .create)
        defer { copy.close() }
        if try !copy.shareContent(of: source) { try copy.copyContent(of: source, 0..<source.size()) }
        try copy.sync()
        try files.rename(draft, to: target)
    }
}

/// The text that a repair leaves with the files it kept.
struct RepairNote {
    private var lines: [String] = []

    /// - Parameter time: microseconds since 1970.
    init(_ plan: RepairPlan, at time: Int64) {
        lines = [
            "A repair of this log, \(time) microseconds after 1970-01-01T00:00:00Z. If the files of a step",
            "do not exist, the repair was interrupted before it, and another one may have been run since.", "",
        ]
        if let damage = plan.report.damage { lines.append("damage: \(damage)") }
        for damage in plan.report.extent?.furtherDamage ?? [] { lines.append("further damage: \(damage)") }
        lines.append("the log now ends with: \(plan.end)")
        lines.append("offsets that it no longer has: \(Self.text(plan.lostOffsets))")
        lines.append("of these, intact in the files kept here: \(Self.text(plan.keptAsideOffsets))")
        lines +=
            [""] + plan.steps.map(\.description) + [
                "", "Copied and moved files have their original content. Moving them back restores the log as it was.",
            ]
    }

    var bytes: [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }

    private static func text(_ offsets: OffsetRanges) -> String { offsets.isEmpty ? "none is known" : "\(offsets)" }
}

extension RepairPlan.Step: CustomStringConvertible {
    /// `move 00000000000000000006.seg to 00000000000000000006.seg.repaired-1`.
    package var description: String {
        func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
        let (file, place) = (name(path), position.map { " at position \($0)" } ?? "")
        return switch kind {
        case .copy, .move: "\(kind.rawValue) \(file) to \(name(target ?? ""))"
        case .cut: "cut \(file)\(place)"
        case .seal: "close \(file) with the missing frame\(place)"
        case .rewrite: "rewrite \(file) from its intact commits"
        case .header: "restore the header of \(file), verified by its checksum"
        case .floor: "restore \(file) from the files after it"
        }
    }
}
