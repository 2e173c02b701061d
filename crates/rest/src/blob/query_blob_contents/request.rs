//! The document of a query: its text, how the blob is written, and how the answer is to be.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::query::Query;
use lazuli_service::query::{Delimited, Format};

use crate::not_built::not_built;
use crate::xml::{self, Element, refuse_element};

#[derive(Debug)]
pub struct QueryRequest {
    pub query: Query,
    pub input: Format,
    pub output: Format,
}

/// No separator is longer.
const SEPARATOR: usize = 64;

pub fn read(document: &[u8]) -> Result<QueryRequest, Failure> {
    let root = xml::parse(document)?;
    let reader = Reader { document };
    if root.name != "QueryRequest" {
        return Err(reader.refuse(&root));
    }
    match root.child("QueryType") {
        Some(kind) if kind.text.trim().eq_ignore_ascii_case("SQL") => {}
        Some(kind) => return Err(node_value(kind)),
        None => return Err(reader.refuse(&root)),
    }
    let expression = root.child("Expression").ok_or_else(|| reader.refuse(&root))?;
    let input = reader.serialization(root.child("InputSerialization"), Direction::In)?;
    let output = reader.serialization(root.child("OutputSerialization"), Direction::Out)?;
    let input = input.unwrap_or_default();
    // What is not said is as it comes in; the names of columns are asked for by themselves.
    let output = output.unwrap_or_else(|| match &input {
        Format::Delimited(format) => Format::Delimited(Delimited { headers: false, ..format.clone() }),
        json => json.clone(),
    });
    Ok(QueryRequest { query: Query::parse(&expression.text)?, input, output })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

struct Reader<'a> {
    document: &'a [u8],
}

impl Reader<'_> {
    fn refuse(&self, element: &Element) -> Failure {
        refuse_element(self.document, element, "")
    }

    fn serialization(
        &self,
        element: Option<&Element>,
        direction: Direction,
    ) -> Result<Option<Format>, Failure> {
        let Some(element) = element else { return Ok(None) };
        let format = element.child("Format").ok_or_else(|| self.refuse(element))?;
        let kind = format.child("Type").ok_or_else(|| self.refuse(format))?;
        let kind_text = kind.text.trim().to_ascii_lowercase();
        match (kind_text.as_str(), direction) {
            ("delimited" | "csv", _) => {
                self.delimited(format.child("DelimitedTextConfiguration")).map(Format::Delimited).map(Some)
            }
            ("json", _) => {
                let told = format.child("JsonTextConfiguration");
                let separator = told.and_then(|told| told.child("RecordSeparator"));
                let separator = separator.filter(|separator| !separator.text.is_empty());
                Ok(Some(Format::Json { separator: self.separator(separator, b"\n")? }))
            }
            ("arrow", Direction::Out) => Err(not_built("Query Blob Contents with Arrow output")),
            ("parquet", Direction::In) => Err(not_built("Query Blob Contents of Parquet files")),
            _ => Err(node_value(kind)),
        }
    }

    fn delimited(&self, told: Option<&Element>) -> Result<Delimited, Failure> {
        let mut format = Delimited::default();
        let Some(told) = told else { return Ok(format) };
        let part = |name: &str| told.child(name).filter(|part| !part.text.is_empty());
        format.column = self.separator(part("ColumnSeparator"), &format.column)?;
        format.record = self.separator(part("RecordSeparator"), &format.record)?;
        if let Some(quote) = told.child("FieldQuote") {
            format.quote = character(quote)?;
        }
        if let Some(escape) = told.child("EscapeChar") {
            format.escape = character(escape)?;
        }
        // What says the same twice cannot be told apart.
        let first = |bytes: &[u8]| bytes.first().copied();
        let marks = [first(&format.column), first(&format.record), format.quote];
        if marks[0] == marks[1] || marks[0] == marks[2] || marks[1] == marks[2] {
            return Err(Failure::new(ErrorCode::InvalidXmlNodeValue));
        }
        if let Some(headers) = told.child("HasHeaders") {
            format.headers = match headers.text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" => true,
                "false" | "0" | "" => false,
                _ => return Err(node_value(headers)),
            };
        }
        Ok(format)
    }

    /// The ends of lines are one, whether a carriage return is told or not: XML does not know the difference.
    fn separator(&self, told: Option<&Element>, usual: &[u8]) -> Result<Vec<u8>, Failure> {
        let Some(told) = told else { return Ok(usual.to_vec()) };
        match told.text.as_str() {
            "\r\n" | "\r" => Ok(b"\n".to_vec()),
            text if text.len() > SEPARATOR => Err(node_value(told)),
            text => Ok(text.as_bytes().to_vec()),
        }
    }
}

/// One character, or none.
fn character(element: &Element) -> Result<Option<u8>, Failure> {
    match element.text.as_bytes() {
        [] => Ok(None),
        [byte] if byte.is_ascii() => Ok(Some(*byte)),
        _ => Err(node_value(element)),
    }
}

fn node_value(element: &Element) -> Failure {
    let shown: String = element.text.chars().take(100).collect();
    Failure::new(ErrorCode::InvalidXmlNodeValue)
        .detail("XmlNodeName", element.name.clone())
        .detail("XmlNodeValue", shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(serialization: &str) -> Result<QueryRequest, Failure> {
        read(
            format!(
                "\u{FEFF}<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * from BlobStorage</Expression>\
                 {serialization}</QueryRequest>"
            )
            .as_bytes(),
        )
    }

    #[test]
    fn formats_are_read_as_clients_send_them() {
        let plain = request("").expect("a request");
        assert_eq!((plain.input, plain.output), (Format::default(), Format::default()));
        let told = request(
            "<InputSerialization><Format><Type>delimited</Type><DelimitedTextConfiguration><ColumnSeparator>;</ColumnSeparator>\
             <FieldQuote>'</FieldQuote><RecordSeparator>\r\n</RecordSeparator><EscapeChar>\\</EscapeChar><HasHeaders>true</HasHeaders>\
             </DelimitedTextConfiguration></Format></InputSerialization>\
             <OutputSerialization><Format><Type>json</Type><JsonTextConfiguration><RecordSeparator>;</RecordSeparator>\
             </JsonTextConfiguration></Format></OutputSerialization>",
        )
        .expect("a request");
        let input = Delimited {
            column: b";".to_vec(),
            record: b"\n".to_vec(),
            quote: Some(b'\''),
            escape: Some(b'\\'),
            headers: true,
        };
        assert_eq!(told.input, Format::Delimited(input));
        assert_eq!(told.output, Format::Json { separator: b";".to_vec() });
        let json = request("<InputSerialization><Format><Type>json</Type></Format></InputSerialization>");
        assert_eq!(json.expect("a request").output, Format::Json { separator: b"\n".to_vec() });
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        let code = |serialization: &str| request(serialization).expect_err(serialization).code.name();
        let input = |inner: &str| format!("<InputSerialization>{inner}</InputSerialization>");
        let quoted = |quote: &str| {
            input(&format!(
                "<Format><Type>delimited</Type><DelimitedTextConfiguration><FieldQuote>{quote}</FieldQuote>\
                 </DelimitedTextConfiguration></Format>"
            ))
        };
        assert_eq!(code(&input("<Format><Type>parquet</Type></Format>")), "NotImplemented");
        assert_eq!(code(&input("<Format><Type>arrow</Type></Format>")), "InvalidXmlNodeValue");
        assert_eq!(
            code("<OutputSerialization><Format><Type>arrow</Type></Format></OutputSerialization>"),
            "NotImplemented"
        );
        assert_eq!(code(&input("<Format><Type>xls</Type></Format>")), "InvalidXmlNodeValue");
        assert_eq!(code(&input("")), "InvalidXmlDocument");
        assert_eq!(code(&quoted("''")), "InvalidXmlNodeValue");
        assert_eq!(code(&quoted("\u{20ac}")), "InvalidXmlNodeValue");
        assert_eq!(code(&quoted(",")), "InvalidXmlNodeValue");
        assert!(request(&quoted("")).is_ok());
        let other = |document: &str| read(document.as_bytes()).expect_err(document).code.name();
        assert_eq!(other("<QueryRequest><QueryType>SQL</QueryType></QueryRequest>"), "InvalidXmlDocument");
        assert_eq!(
            other("<QueryRequest><QueryType>X</QueryType><Expression/></QueryRequest>"),
            "InvalidXmlNodeValue"
        );
        assert_eq!(
            other("<QueryRequest><QueryType>SQL</QueryType><Expression/></QueryRequest>"),
            "ParseError"
        );
        assert_eq!(other("<Other/>"), "InvalidXmlDocument");
    }
}
