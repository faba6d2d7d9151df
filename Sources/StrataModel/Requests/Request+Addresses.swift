extension Request {
    /// True if the request may have tokens of URLs, or addresses of people.
    package var mayHaveAddresses: Bool {
        switch content {
        case .modifyRecords(let body): body.saves.contains { $0.sharing != nil }
        case .administer, .joinShares: true
        case .modifyZones, .modifySubscriptions, .declareSchema, .notify: false
        }
    }
}

extension RequestShape {
    /// True if the shape may have tokens of URLs, or addresses of people.
    package var mayHaveAddresses: Bool { !shareChanges.isEmpty || request?.mayHaveAddresses == true }
}

extension KeptRequest {
    /// Returns the request in hexadecimal; nil if it was not kept, if it may have tokens of URLs or addresses of
    /// people, or if this release cannot read it.
    var plainHexadecimal: String? {
        guard let bytes, let request = try? Request(decoding: bytes[...]), !request.mayHaveAddresses else { return nil }
        return hexadecimal(of: bytes)
    }
}
