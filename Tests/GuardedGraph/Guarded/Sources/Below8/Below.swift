public let below8 = 8
