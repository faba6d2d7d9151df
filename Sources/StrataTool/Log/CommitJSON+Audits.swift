import StrataModel

/// Audits, which carry names as the client sent them.
extension CommitJSON {
    static func write(audit: EventDetail, to json: inout JSONWriter) {
        switch audit {
        case .refused(let refused):
            json.field("code", refused.code)
            if let message = refused.message { json.field("message", message) }
            json.beginArray("culprits")
            for culprit in refused.culprits {
                json.beginObject()
                json.field("list", "\(culprit.list)")
                json.field("index", culprit.index)
                json.field("code", culprit.code)
                if let version = culprit.version { json.field("version", version.tag) }
                json.endObject()
            }
            json.endArray()
            write(request: refused.request, byteCount: refused.requestBytes, to: &json)
        case .nothingToDelete(let event):
            json.field("count", event.count)
            write(request: event.request, byteCount: 0, to: &json)
        case .consoleActed(let note):
            json.field("text", note.text)
            json.field("userName", note.user)
            json.field("deviceName", note.device)
        case .fetched(let fetched): write(fetched, to: &json)
        default: break
        }
    }

    private static func write(request: [UInt8]?, byteCount: UInt64, to json: inout JSONWriter) {
        json.field("asked", AuditText.request(request, byteCount: byteCount))
        if let request { json.field("request", hex(of: request)) }
        if byteCount > 0 { json.field("requestBytes", byteCount) }
    }

    private static func write(_ fetched: FetchedEvent, to json: inout JSONWriter) {
        json.field("question", fetched.question.name)
        json.field("scope", fetched.database.scope.name)
        json.field("ownerName", fetched.database.owner)
        json.field("answeredAt", fetched.offset)
        json.field("results", fetched.resultCount)
        json.field("moreComing", fetched.moreComing)
        if let zone = fetched.zone { json.field("zoneName", zone.name) }
        let ids = (try? fetched.ids()) ?? []
        if !ids.isEmpty {
            json.beginArray("records")
            for id in ids {
                json.beginObject()
                json.field("ownerName", id.zone.owner)
                json.field("zoneName", id.zone.name)
                json.field("record", id.name)
                json.endObject()
            }
            json.endArray()
        }
        if let keys = fetched.desiredKeys { json.field("desiredKeys", keys.joined(separator: " ")) }
        if let query = fetched.query { json.field("query", hex(of: query)) }
        if fetched.isContinued { json.field("continued", true) }
        if let token = fetched.givenToken { json.field("givenToken", hex(of: token)) }
        if let token = fetched.returnedToken { json.field("returnedToken", hex(of: token)) }
    }

    private static func hex(of bytes: [UInt8]) -> String { bytes.map { hexadecimal($0) }.joined() }
}
