public let below10 = 10
