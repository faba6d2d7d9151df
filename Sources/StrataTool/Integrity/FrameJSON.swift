import StrataLog
import StrataModel

/// Writes an object for each file, frame, block, footer, and unrecognized range of bytes. The keys are stable:
/// docs/guide/tool.md.
struct FrameJSON: FrameFormat {
    func write(_ head: StoredPieceWalk, _ file: LogFiles.Entry, to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        write(file, to: &json)
        json.field("kind", "file")
        json.field("path", file.path)
        json.field("bytes", head.byteCount)
        switch head.head {
        case .segment(_, let isSealed): json.field("form", isSealed ? "blocks" : "frames")
        case .base: json.field("form", "base")
        case .unreadable: json.null("form")
        }
        if case .unreadable(let error) = head.head { json.field("problem", error) } else { json.null("problem") }
        json.endObject()
        try output.endLine()
    }

    private func write(_ file: LogFiles.Entry, to json: inout JSONWriter) {
        if let segment = file.segment { json.field("segment", segment) }
        if let base = file.base { json.field("base", base) }
    }

    func write(_ piece: StoredPiece, _ file: LogFiles.Entry, isDurable: Bool?, to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        write(file, to: &json)
        switch piece.content {
        case .frame(let header): json.field("kind", "\(header.kind)")
        case .block(let block): json.field("kind", block.kind)
        case .nothing(let isZero): json.field("kind", isZero ? "zeros" : "nothing")
        }
        json.field("position", piece.range.lowerBound)
        json.field("bytes", piece.range.count)
        if let offsets = piece.offsets {
            json.field("firstOffset", offsets.lowerBound)
            json.field("lastOffset", offsets.upperBound)
        }
        switch piece.content {
        case .frame(let header):
            write(header.rawLength, header.storedLength, header.codec, to: &json)
            json.field("time", header.time)
            json.field("chain", hexadecimal: header.chain)
            json.field("undurable", UInt64(header.undurable))
            json.field("bodyChecksum", hexadecimal: header.bodyChecksum)
        case .block(let block):
            write(block.rawLength, block.storedLength, block.codec, to: &json)
            if ["commits", "end"].contains(block.kind) {
                json.field("time", block.time)
                json.field("chain", hexadecimal: block.chain)
            }
            json.field("entries", UInt64(block.count))
            if block.hasErasures { json.field("erasures", true) }
            json.field("bodyChecksum", hexadecimal: block.bodyChecksum)
        case .nothing: break
        }
        if case .nothing = piece.content {} else { json.field("checksum", piece.problem == nil ? "ok" : "wrong") }
        if let isDurable { json.field("durable", isDurable) }
        if let problem = piece.problem { json.field("problem", problem) }
        json.endObject()
        try output.endLine()
    }

    private func write(_ raw: UInt32, _ stored: UInt32, _ codec: FrameHeader.Codec, to json: inout JSONWriter) {
        json.field("rawBytes", UInt64(raw))
        json.field("storedBytes", UInt64(stored))
        json.field("codec", "\(codec)")
    }

    func write(_ footer: SegmentFooter, _ file: LogFiles.Entry, to output: Output) throws {
        var names = KnownNames()
        for name in footer.names { names.add(name) }
        var json = JSONWriter(output)
        json.beginObject()
        write(file, to: &json)
        json.field("kind", "footer")
        json.field("position", footer.indexPosition)
        json.field("payloadBytes", footer.payloadBytes)
        json.field("firstTime", footer.firstTime)
        json.field("lastTime", footer.lastTime)
        json.beginArray("commitBlocks")
        for block in footer.commitBlocks {
            json.beginObject()
            json.field("firstOffset", block.offsets.lowerBound)
            json.field("lastOffset", block.offsets.upperBound)
            json.field("position", block.range.lowerBound)
            json.field("bytes", block.range.count)
            json.field("time", block.time)
            json.endObject()
        }
        json.endArray()
        json.field("changes", footer.touchCount)
        write(blocks: footer.changeBlocks, "changeBlocks", to: &json)
        json.beginArray("zones")
        for zone in footer.zones {
            json.beginObject()
            json.zone(zone.zone, names)
            json.field("changes", zone.touchCount)
            json.field("bytes", zone.byteCount)
            json.endObject()
        }
        json.endArray()
        json.field("recordNames", footer.recordNameCount)
        json.field("filterGroups", footer.filterGroups)
        write(blocks: footer.filterBlocks, "filterBlocks", to: &json)
        json.field("names", footer.names.count)
        write(blocks: footer.nameBlocks, "nameBlocks", to: &json)
        json.endObject()
        try output.endLine()
    }

    private func write(blocks: [Range<Int>], _ key: StaticString, to json: inout JSONWriter) {
        json.beginArray(key)
        for range in blocks {
            json.beginObject()
            json.field("position", range.lowerBound)
            json.field("bytes", range.count)
            json.endObject()
        }
        json.endArray()
    }
}
