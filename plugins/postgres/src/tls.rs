//! TLS below PostgreSQL's protocol.

use crate::failure::Failure;
use crate::target::{Target, TlsMode};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::client::TlsStream as RustlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_rustls::{Connect, TlsConnector};

/// Makes the TLS side of connections to one target.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    /// As a target wants it; what is in here for [`TlsMode::Disable`] is never asked.
    pub(crate) fn of(target: &Target) -> Result<Self, Failure> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| Failure::invalid(format!("TLS is not to be had: {error}")))?;
        let config = match target.tls {
            TlsMode::VerifyFull => builder.with_root_certificates(authorities(target)?).with_no_client_auth(),
            TlsMode::VerifyCa => {
                let chain = WebPkiServerVerifier::builder_with_provider(
                    Arc::new(authorities(target)?),
                    provider.clone(),
                )
                .build()
                .map_err(|error| Failure::invalid(format!("the target's authorities are no use: {error}")))?;
                let verifier = Arc::new(Lenient { chain: Some(chain), provider });
                builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
            }
            TlsMode::Require | TlsMode::Disable => {
                let verifier = Arc::new(Lenient { chain: None, provider });
                builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
            }
        };
        Ok(Self { config: Arc::new(config) })
    }
}

fn authorities(target: &Target) -> Result<RootCertStore, Failure> {
    let mut roots = RootCertStore::empty();
    match &target.authority {
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let added = certificate
                    .map_err(|error| error.to_string())
                    .and_then(|certificate| roots.add(certificate).map_err(|error| error.to_string()));
                added.map_err(|error| {
                    Failure::invalid(format!("the target's `CaCertificate` is wrong: {error}"))
                })?;
            }
        }
    }
    if roots.is_empty() {
        let message = "there is no certificate authority to check the server with: \
            name one in the target's `CaCertificate`";
        return Err(Failure::invalid(message));
    }
    Ok(roots)
}

/// Checks less than the standard verifier, as the mode of the target says: the chain without the
/// host's name, or nothing but that the server holds its certificate's key.
#[derive(Debug)]
struct Lenient {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        // The name is checked after the chain.
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Stream<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, io::Error> {
        // A socket has no host, and no TLS; this is asked all the same.
        let host = if host.is_empty() || host.starts_with('/') { "localhost" } else { host };
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Handshake { connector: TlsConnector::from(self.config.clone()), name })
    }
}

/// A handshake with one server.
pub(crate) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Handshaking<S>;

    fn connect(self, stream: S) -> Handshaking<S> {
        Handshaking(self.connector.connect(self.name, stream))
    }
}

/// A handshake that goes on.
pub(crate) struct Handshaking<S>(Connect<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> Future for Handshaking<S> {
    type Output = io::Result<Stream<S>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|stream| stream.map(|stream| Stream(Box::new(stream))))
    }
}

/// An encrypted stream.
pub(crate) struct Stream<S>(Box<RustlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    /// None: it would need the certificate's signature algorithm, which the TLS library does not tell.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
